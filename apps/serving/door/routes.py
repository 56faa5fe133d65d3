"""Where requests for a service go now, as the database says; asked at most once a second for each service."""

import asyncio
import logging
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from uuid import UUID

from django_scopes import scopes_disabled

from apps.common.errors import DomainError
from apps.serving.choices import DeploymentStatus
from apps.serving.models import Deployment, Service
from apps.tenants.choices import OrganisationStatus
from apps.workloads import reach
from apps.workloads.choices import Desired, Status
from apps.workloads.drivers.sockets import Endpoint
from apps.workloads.models import Attempt

log = logging.getLogger(__name__)

FRESH_S = 1.0
# The database may be away for a while without a service being away.
BLIND_S = 300.0
MOST_KNOWN = 10_000


@dataclass(frozen=True, slots=True)
class Replica:
    """One try of a replica that is well, and where it is reached."""

    attempt_id: UUID
    endpoint: Endpoint


@dataclass(frozen=True, slots=True)
class Route:
    """A service that exists. `replicas`: empty while none is well. `is_started`: something of it is to serve."""

    service_id: UUID
    organisation_id: UUID
    label: str
    cors_origins: tuple[str, ...]
    is_started: bool = False
    timeout_s: float = 60.0
    body_limit: int = 0
    repeatable: bool = False
    replicas: tuple[Replica, ...] = ()


def read(label: str) -> Route | None:
    """None where there is no such service, or its organisation is frozen."""
    with scopes_disabled():
        rows = Service.objects.filter(organisation__status=OrganisationStatus.ACTIVE, deleted_at__isnull=True)
        service = rows.filter(host=label).first()
        return None if service is None else _route(service)


def _route(service: Service) -> Route:
    running = (DeploymentStatus.ACTIVE, DeploymentStatus.PREPARING)
    opened = list(Deployment.objects.filter(service=service, status__in=running).select_related("version"))
    active = next((each for each in opened if each.status == DeploymentStatus.ACTIVE), None)
    plain = Route(service.pk, service.organisation_id, service.host, tuple(service.cors_origins), bool(opened))
    if active is None:
        return plain
    version = active.version
    return Route(
        plain.service_id,
        plain.organisation_id,
        plain.label,
        plain.cors_origins,
        is_started=True,
        timeout_s=float(version.timeout_s),
        body_limit=version.body_limit_mib << 20,
        repeatable=version.repeatable,
        replicas=tuple(_well(active)),
    )


def _well(deployment: Deployment) -> list[Replica]:
    rows = Attempt.objects.filter(
        ended_at__isnull=True,
        service_health__ready=True,
        workload__replica_set=deployment.replica_set_id,
        workload__status=Status.RUNNING,
        workload__desired=Desired.RUNNING,
    )
    found = []
    for attempt in rows.select_related("workload", "node").order_by("workload__replica_index"):
        try:
            found.append(Replica(attempt.pk, reach.endpoint_of(attempt.workload, attempt)))
        except DomainError:  # its machine cannot be asked just now, or nothing listens any more
            continue
    return found


Ask = Callable[[str], Awaitable[Route | None]]


@dataclass(slots=True)
class _Known:
    route: Route | None
    asked_at: float


@dataclass(slots=True)
class Routes:
    """One process's routes. `ask` reads the database."""

    ask: Ask
    fresh_s: float = FRESH_S
    _known: dict[str, _Known] = field(default_factory=dict)
    _asking: dict[str, asyncio.Task[Route | None]] = field(default_factory=dict)

    async def get(self, label: str) -> Route | None:
        """Requests that come together share one look. Raises what `ask` raises once it has been away for long."""
        known = self._known.get(label)
        if known is not None and time.monotonic() - known.asked_at < self.fresh_s:
            return known.route
        task = self._asking.get(label)
        if task is None:
            task = self._asking[label] = asyncio.create_task(self._ask(label))
            task.add_done_callback(lambda _done: self._asking.pop(label, None))
        try:
            return await asyncio.shield(task)
        except Exception:
            if known is None or time.monotonic() - known.asked_at > BLIND_S:
                raise
            log.warning("routes are those of before", exc_info=True)
            return known.route

    async def _ask(self, label: str) -> Route | None:
        asked_at = time.monotonic()
        route = await self.ask(label)
        if len(self._known) >= MOST_KNOWN:
            self._known.clear()
        self._known[label] = _Known(route, asked_at)
        return route
