"""Read schedules that the actor may see, and their starts."""

from uuid import UUID

from django.db.models import QuerySet

from apps.common.actor import Actor
from apps.common.errors import NotFound
from apps.schedules.choices import StartStatus
from apps.schedules.models import Schedule, ScheduledStart
from apps.training.choices import KIND
from apps.training.models import Run
from apps.workloads.choices import LIVE
from apps.workloads.permissions import seen_rows


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


def living(schedule: Schedule) -> list[Run]:
    """Runs that it has started and that have not ended."""
    rows = Run.objects.filter(
        scheduled_start__schedule=schedule,
        scheduled_start__status=StartStatus.STARTED,
        workload__status__in=LIVE,
    )
    return list(rows.select_related("workload"))
