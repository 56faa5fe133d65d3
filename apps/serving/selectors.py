"""Reading services as far as the actor may, and how each of them is."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from uuid import UUID

from django.db.models import Prefetch, QuerySet
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, pgettext

from apps.common.actor import Actor
from apps.common.errors import Denied, NotFound
from apps.common.permissions import Permission
from apps.modelhub.models import ModelVersion
from apps.serving.choices import KIND, OPEN, DeploymentStatus
from apps.serving.models import Deployment, Health, Service, ServiceVersion
from apps.workloads.choices import Desired, Status
from apps.workloads.models import Attempt, ReplicaSet
from apps.workloads.permissions import may_manage, seen_rows
from apps.workloads.replicas import selectors as sets


def services(actor: Actor) -> QuerySet[Service]:
    """The actor's own, or all that they manage; newest first, as `with_open`."""
    return seen_rows(actor, KIND, with_open()).order_by("-created_at", "-pk")


def is_managed_by(actor: Actor, service: Service) -> bool:
    """Whether pages offer the actor what changes it: the services that carry it out decide by `may_manage`."""
    try:
        may_manage(actor, KIND, service.owner_id)
    except (Denied, NotFound):
        return False
    return actor.may(Permission.SERVICES_USE)


def with_open() -> QuerySet[Service]:
    """Each with `open`: its deployments that have not ended."""
    running = Deployment.objects.filter(status__in=OPEN).select_related("version", "replica_set__package")
    rows: QuerySet[Service] = Service.objects.filter(deleted_at__isnull=True).select_related(
        "owner", "package", "scaling"
    )
    return rows.prefetch_related(Prefetch("deployments", running, to_attr="open"))


def get(actor: Actor, service_id: UUID) -> Service:
    """One visible service; `NotFound` otherwise."""
    found = services(actor).filter(pk=service_id).first()
    if found is None:
        raise NotFound
    return found


def of_workload(actor: Actor, workload_id: UUID) -> Service:
    """That one of whose replicas the workload is; raises `NotFound`."""
    found = services(actor).filter(deployments__replica_set__replicas=workload_id).first()
    if found is None:
        raise NotFound
    return found


def versions(service: Service) -> QuerySet[ServiceVersion]:
    """Newest first; the caller has checked that the actor may see the service."""
    return ServiceVersion.objects.filter(service=service).select_related("author", "image").order_by("-number")


def version(service: Service, version_id: UUID) -> ServiceVersion:
    """Raises `NotFound`."""
    found = versions(service).select_related("service").filter(pk=version_id).first()
    if found is None:
        raise NotFound
    return found


def deployments(service: Service) -> QuerySet[Deployment]:
    """The history of updates, newest first; the caller has checked that the actor may see the service."""
    rows = Deployment.objects.filter(service=service).select_related("version", "author", "replica_set", "service")
    return rows.order_by("-created_at", "-pk")


def of_status(service: Service, status: DeploymentStatus) -> Deployment | None:
    """The one that gets ready, or that serves."""
    return deployments(service).filter(status=status).first()


def ready_counts(replica_sets: Iterable[ReplicaSet | None]) -> Mapping[UUID, int]:
    """By id of the set, how many of its replicas run, are wanted, and passed their newest health check."""
    ids = [each.pk for each in replica_sets if each is not None]
    rows = Health.objects.filter(
        ready=True,
        attempt__ended_at__isnull=True,
        attempt__workload__replica_set__in=ids,
        attempt__workload__status=Status.RUNNING,
        attempt__workload__desired=Desired.RUNNING,
    )
    return Counter(rows.values_list("attempt__workload__replica_set_id", flat=True))


def well(deployment: Deployment) -> QuerySet[Attempt]:
    """Tries of its replicas that run and passed their newest health check, by number."""
    rows = Attempt.objects.filter(
        ended_at__isnull=True,
        service_health__ready=True,
        workload__replica_set=deployment.replica_set_id,
        workload__status=Status.RUNNING,
        workload__desired=Desired.RUNNING,
    )
    return rows.select_related("workload", "node").order_by("workload__replica_index")


def serving(service_id: UUID) -> Deployment | None:
    """What the door leads to."""
    rows = Deployment.objects.filter(service_id=service_id, status=DeploymentStatus.ACTIVE)
    found: Deployment | None = rows.select_related("version", "service", "replica_set").first()
    return found


def model_served(service: Service) -> ModelVersion | None:
    """Of what the door leads to; before there is any, of the newest version."""
    rows = versions(service).select_related("model__model")
    version = rows.filter(deployments__status=DeploymentStatus.ACTIVE).first() or rows.first()
    return version.model if version else None


def is_ready(deployment: Deployment) -> bool:
    """As many of its replicas are well as serve now, so that nobody waits longer for the change; at least one."""
    before = serving(deployment.service_id)
    counts = ready_counts([deployment.replica_set, before.replica_set if before else None])
    needed = counts.get(before.replica_set_id, 0) if before else 0
    return counts.get(deployment.replica_set_id, 0) >= max(1, min(needed, deployment.replica_set.wanted))


@dataclass(frozen=True, slots=True)
class State:
    """`status` as badges of work have it. `ready` of `wanted` replicas of what serves, or is to."""

    status: Status
    words: str
    ready: int = 0
    wanted: int = 0
    is_updating: bool = False

    @property
    def is_serving(self) -> bool:
        return self.ready > 0 and self.status == Status.RUNNING


STOPPED_WORDS = gettext_lazy("Stopped")


def states(rows: Iterable[Service]) -> Mapping[UUID, State]:
    """Of services as `services` reads them, in a fixed number of queries."""
    asked = list(rows)
    opened: Mapping[UUID, list[Deployment]] = {row.pk: row.open for row in asked}  # type: ignore[attr-defined]
    all_sets = [each.replica_set for several in opened.values() for each in several]
    ready, summed = ready_counts(all_sets), sets.summaries(all_sets)
    failed = _last_failed([row for row in asked if not opened[row.pk]])
    return {row.pk: _state(opened[row.pk], ready, summed, row.pk in failed) for row in asked}


def state(service: Service) -> State:
    return states([service])[service.pk]


def _state(
    opened: list[Deployment], ready: Mapping[UUID, int], summed: Mapping[UUID, sets.Summary], failed: bool
) -> State:
    by_status: dict[str, Deployment] = {each.status: each for each in opened}
    active, coming = by_status.get(DeploymentStatus.ACTIVE), by_status.get(DeploymentStatus.PREPARING)
    shown = active or coming
    if shown is None:
        if opened:
            return State(Status.STOPPING, str(Status.STOPPING.label))
        return State(Status.FAILED, _("Did not start")) if failed else State(Status.STOPPED, str(STOPPED_WORDS))
    of_set = summed[shown.replica_set_id]
    count = ready.get(shown.replica_set_id, 0)
    words = _("%(ready)s of %(wanted)s ready") % {"ready": count, "wanted": of_set.wanted}
    if active is None:
        status = Status.QUEUED if of_set.status == Status.QUEUED else Status.STARTING
        words = pgettext("service", "Waits for a machine") if status == Status.QUEUED else words
    else:
        status = Status.RUNNING if count else Status.STARTING
    return State(status, words, count, of_set.wanted, is_updating=active is not None and coming is not None)


def _last_failed(rows: list[Service]) -> set[UUID]:
    """Ids of those whose newest deployment failed."""
    newest = Deployment.objects.filter(service__in=rows).order_by("service_id", "-created_at", "-pk")
    pairs = newest.distinct("service_id").values_list("service_id", "status")
    return {service_id for service_id, status in pairs if status == DeploymentStatus.FAILED}


def health_by_replica(found: ReplicaSet) -> Mapping[int, Health]:
    """By number of the replica, what the checks say of its present try."""
    rows = Health.objects.filter(attempt__workload__replica_set=found, attempt__ended_at__isnull=True)
    known: defaultdict[int, Health] = defaultdict(Health)
    for row in rows.select_related("attempt__workload"):
        known[row.attempt.workload.replica_index or 0] = row
    return dict(known)
