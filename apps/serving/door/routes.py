"""Where requests for a service go now, as the database says; asked at most once a second for each service."""

from dataclasses import dataclass
from uuid import UUID

from django_scopes import scopes_disabled

from apps.common.errors import DomainError
from apps.serving import selectors
from apps.serving.choices import DeploymentStatus
from apps.serving.door.fresh import Fresh
from apps.serving.models import Deployment, Service
from apps.tenants.choices import OrganisationStatus
from apps.workloads import reach
from apps.workloads.drivers.sockets import Endpoint


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
    found = []
    for attempt in selectors.well(deployment):
        try:
            found.append(Replica(attempt.pk, reach.endpoint_of(attempt.workload, attempt)))
        except DomainError:  # its machine cannot be asked just now, or nothing listens any more
            continue
    return found


Routes = Fresh[str, Route]
"""One process's routes by label."""
