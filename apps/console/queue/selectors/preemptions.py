"""Who had to give way to whom, by what right, and what it cost."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import date, timedelta
from typing import Any
from uuid import UUID

from django.db.models import Count, F, Q, QuerySet, Sum
from django.db.models.functions import TruncDate
from django.utils import timezone

from apps.common.actor import Actor
from apps.common.clock import db_now
from apps.common.permissions import Permission
from apps.console.queue.selectors.focus import Focus
from apps.workloads.choices import PreemptionOutcome, PreemptionWhy
from apps.workloads.models import Placement, Preemption, Workload

DAYS = 14


@dataclass(frozen=True, slots=True)
class GaveWay:
    """One attempt that was asked, and the workload that it makes room for (None once that is gone)."""

    row: Preemption
    for_workload: Workload | None

    @property
    def victim(self) -> Workload:
        found: Workload = self.row.attempt.workload
        return found


@dataclass(frozen=True, slots=True)
class Day:
    """Counts of one day in the platform's zone; money in fen, lost work in seconds."""

    day: date
    asked: int
    for_priority: int
    for_guarantee: int
    gave_way: int
    called_off: int
    lost_s: float
    credited_fen: int


def preemptions(actor: Actor, focus: Focus) -> QuerySet[Preemption]:
    """Newest first."""
    actor.require(Permission.PLATFORM_WORKLOADS_VIEW)
    rows: QuerySet[Preemption] = Preemption.objects.filter(attempt__node__cluster__zone__simulated=focus.simulated)
    if focus.model:
        on_model = Placement.objects.filter(accelerator__model=focus.model).values("attempt_id")
        rows = rows.filter(attempt__in=on_model)
    return rows.select_related("attempt__workload__organisation", "attempt__node", "organisation").order_by(
        F("asked_at").desc(), "-pk"
    )


def with_gainers(rows: Iterable[Preemption]) -> list[GaveWay]:
    """Each with whom it was for: one query for all."""
    found = list(rows)
    gainers = Workload.objects.filter(pk__in={row.for_workload_id for row in found}).select_related("organisation")
    by_id: dict[UUID, Workload] = {workload.pk: workload for workload in gainers}
    return [GaveWay(row, by_id.get(row.for_workload_id)) for row in found]


def days(rows: QuerySet[Preemption], *, span: int = DAYS) -> list[Day]:
    """The last `span` days, the oldest first; days without any are there too."""
    today = timezone.localtime(db_now()).date()
    first = today - timedelta(days=span - 1)
    counted: dict[date, Mapping[str, Any]] = {
        row["day"]: row
        for row in rows.order_by()
        .annotate(day=TruncDate("asked_at"))
        .filter(day__gte=first)
        .values("day")
        .annotate(
            asked=Count("pk"),
            for_priority=Count("pk", filter=Q(why=PreemptionWhy.HIGHER_PRIORITY)),
            for_guarantee=Count("pk", filter=Q(why=PreemptionWhy.GUARANTEE)),
            gave_way=Count("pk", filter=Q(outcome=PreemptionOutcome.REQUEUED)),
            called_off=Count("pk", filter=Q(outcome=PreemptionOutcome.CALLED_OFF)),
            lost_s=Sum("lost_s"),
            credited_fen=Sum("credited_fen"),
        )
    }
    return [_day(first + timedelta(days=n), counted.get(first + timedelta(days=n))) for n in range(span)]


def _day(day: date, row: Mapping[str, Any] | None) -> Day:
    found = row or {}
    return Day(
        day=day,
        asked=found.get("asked") or 0,
        for_priority=found.get("for_priority") or 0,
        for_guarantee=found.get("for_guarantee") or 0,
        gave_way=found.get("gave_way") or 0,
        called_off=found.get("called_off") or 0,
        lost_s=found.get("lost_s") or 0.0,
        credited_fen=found.get("credited_fen") or 0,
    )
