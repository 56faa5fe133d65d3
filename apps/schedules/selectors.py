"""Read schedules that the actor may see, and their starts."""

from uuid import UUID

from django.db.models import QuerySet
from django.db.models.functions import Coalesce

from apps.common.actor import Actor
from apps.common.errors import NotFound
from apps.schedules.choices import StartStatus
from apps.schedules.models import Schedule, ScheduledStart
from apps.schedules.targets import target_of
from apps.training.choices import KIND
from apps.workloads.permissions import seen_rows

MOST_LIVING = 200


def schedules(actor: Actor) -> QuerySet[Schedule]:
    """As the actor sees runs: their own, or all for who manages them; newest first."""
    rows: QuerySet[Schedule] = Schedule.objects.select_related("owner", "run")
    return seen_rows(actor, KIND, rows).order_by("-created_at", "-pk")


def get(actor: Actor, schedule_id: UUID) -> Schedule:
    """One visible schedule; `NotFound` otherwise."""
    found = schedules(actor).filter(pk=schedule_id).first()
    if found is None:
        raise NotFound
    return found


def starts(schedule: Schedule) -> QuerySet[ScheduledStart]:
    """Newest first, with their runs."""
    rows: QuerySet[ScheduledStart] = ScheduledStart.objects.filter(schedule=schedule)
    return rows.select_related("run__workload").order_by("-moment", "-pk")


def living(schedule: Schedule) -> list[UUID]:
    """What it has started and has not ended: of its last starts, since what ended long ago is asked for no more."""
    rows = ScheduledStart.objects.filter(schedule=schedule, status=StartStatus.STARTED).order_by("-moment", "-pk")
    found = rows.annotate(started=Coalesce("run_id", "started_id")).values_list("started", flat=True)
    return target_of(schedule.target).living(list(found[:MOST_LIVING]))


def of_target(actor: Actor, target: str, target_id: UUID) -> list[Schedule]:
    """Those that start this, the oldest first."""
    return list(schedules(actor).filter(target=target, target_id=target_id).order_by("created_at"))
