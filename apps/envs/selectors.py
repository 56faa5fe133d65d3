"""Read environments that the actor may see."""

from datetime import timedelta
from decimal import Decimal
from typing import Any
from uuid import UUID

from django.db.models import OuterRef, QuerySet, Subquery, Sum
from django.db.models.functions import Coalesce

from apps.billing.prices.own import with_paid_rate
from apps.common.actor import Actor
from apps.common.clock import db_now
from apps.common.errors import NotFound
from apps.envs.choices import KIND, StepStatus
from apps.envs.models import Environment, Operation, Snapshot, Watch
from apps.registry.models import ImageSaving
from apps.registry.saving.selectors import savings_of
from apps.workloads.choices import Status
from apps.workloads.models import Attempt, Event, Workload
from apps.workloads.permissions import seen_rows


def environments(actor: Actor) -> QuerySet[Environment]:
    """Environments that the actor may see, newest first.

    `paid_rate` in fen per hour is what the last start costs; null before the first.
    """
    rows: QuerySet[Environment] = Environment.objects.select_related(
        "workload__package", "workload__price_version", "owner", "image", "package", "cpu_package", "home"
    )
    if actor.platform:
        rows = rows.select_related("organisation")
    return with_paid_rate(seen_rows(actor, KIND, rows), "workload__").order_by("-created_at", "-pk")


def get(actor: Actor, environment_id: UUID) -> Environment:
    """One visible environment, in the bin or not; `NotFound` otherwise."""
    found = environments(actor).filter(pk=environment_id).first()
    if found is None:
        raise NotFound
    return found


def by_code(code: str) -> Environment | None:
    """The environment of an SSH user name; the caller decides who may enter. None for one in the bin."""
    found: Environment | None = (
        Environment.objects.select_related("workload", "owner", "organisation", "home")
        .filter(code=code, deleted_at__isnull=True)
        .first()
    )
    return found


def in_list(actor: Actor) -> QuerySet[Environment]:
    """As `environments`, with what a row of the list shows: the last snapshot, the live attempt, what is under way."""
    live = Attempt.objects.filter(workload=OuterRef("workload"), ended_at__isnull=True, handle__isnull=False)
    ready = Snapshot.objects.filter(environment=OuterRef("pk"), ready_at__isnull=False).order_by("-created_at")
    doing = Operation.objects.filter(environment=OuterRef("pk"), status=StepStatus.WAITING)
    return (
        environments(actor)
        .select_related("watch")
        .annotate(
            last_seen=Subquery(live.values(seen=Coalesce("seen_at", "placed_at"))[:1]),
            last_usage=Subquery(live.values("usage")[:1]),
            last_progress=Subquery(live.values("progress")[:1]),
            snapshot_at=Subquery(ready.values("created_at")[:1]),
            snapshot_kind=Subquery(ready.values("kind")[:1]),
            doing=Subquery(doing.values("step")[:1]),
        )
    )


def totals(actor: Actor) -> dict[str, Any]:
    """How many of the visible environments run, and what they cost together (fen per hour)."""
    rows = environments(actor).order_by().filter(deleted_at__isnull=True)
    running = rows.filter(workload__status=Status.RUNNING)
    rate = running.aggregate(rate=Sum("paid_rate"))["rate"]
    live = {"all": rows.count(), "running": running.count(), "binned": binned(actor).count()}
    return {**live, "rate": rate or Decimal(0)}


def binned(actor: Actor) -> QuerySet[Environment]:
    return environments(actor).filter(deleted_at__isnull=False)


def latest(actor: Actor) -> Environment | None:
    """The actor's own newest environment: where the next form's defaults come from."""
    return environments(actor).filter(owner_id=actor.user_id, deleted_at__isnull=True).first()


def snapshots(environment: Environment) -> QuerySet[Snapshot]:
    """Newest first; those that are not ready yet too."""
    rows: QuerySet[Snapshot] = Snapshot.objects.filter(environment=environment).select_related("manifest")
    return rows.order_by("-created_at", "-pk")


def operation(environment: Environment) -> Operation | None:
    """The running operation, or the last that failed within the hour, or None."""
    rows: QuerySet[Operation] = Operation.objects.filter(environment=environment).order_by("-created_at")
    waiting = rows.filter(status=StepStatus.WAITING).first()
    if waiting is not None:
        return waiting
    newest = rows.first()
    recent = newest is not None and newest.ended_at is not None and db_now() - newest.ended_at < timedelta(hours=1)
    return newest if newest is not None and recent and newest.status == StepStatus.FAILED else None


def watch(environment: Environment) -> Watch | None:
    """The idle detector's data of the newest workload."""
    if environment.workload_id is None:
        return None
    rows: QuerySet[Watch] = Watch.objects.filter(environment=environment, workload_id=environment.workload_id)
    return rows.first()


def past_workloads(environment: Environment) -> QuerySet[Workload]:
    """Every start of it, newest first, `paid_rate` in fen per hour: what it cost stands with each."""
    rows: QuerySet[Workload] = Workload.objects.filter(
        organisation_id=environment.organisation_id,
        owner_id=environment.owner_id,
        submit_key__startswith=f"env-{environment.pk.hex}-",
    )
    return with_paid_rate(rows.select_related("package", "price_version")).order_by("-created_at")


def saved_as(environment: Environment) -> QuerySet[ImageSaving]:
    """The images in the registry that its starts were saved as, or are being saved as, newest first."""
    return savings_of(environment.organisation_id, past_workloads(environment))


def last_event_id(actor: Actor) -> int:
    """Where a page rendered now resumes the stream of events; 0 before the first."""
    rows = Event.objects.filter(organisation_id=actor.organisation())
    return rows.order_by("-pk").values_list("pk", flat=True).first() or 0


def events(environment: Environment) -> QuerySet[Event]:
    """Events of all its starts, newest first."""
    rows: QuerySet[Event] = Event.objects.filter(workload__in=past_workloads(environment).order_by().values("pk"))
    return rows.select_related("workload").order_by("-pk")
