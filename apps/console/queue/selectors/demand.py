"""What waits and how long waiting takes, counted by the database: a few rows come back, however long the queue is."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import lru_cache
from typing import Any
from uuid import UUID

from django.db.models import Aggregate, Count, DurationField, Exists, ExpressionWrapper, F, Min, OuterRef, QuerySet, Sum
from django.db.models.fields.json import KT, KeyTransform
from django.db.models.functions import Now

import scheduler
from apps.console.queue.selectors.focus import Focus, Passed, memory_for_all, request_of, waiting
from apps.workloads.models import Attempt, Placement
from scheduler.mix import gpu_milli

LATELY = timedelta(hours=24)


@dataclass(frozen=True, slots=True)
class Asked:
    """Waiting tasks that are alike: of one organisation, for one cause, asking for the same cards."""

    organisation_id: UUID
    cause: str  # "" before the scheduler has looked
    gpu: scheduler.GpuRequest | None
    tasks: int
    members: int  # of all of them: a gang asks for the cards of each member
    since: datetime

    @property
    def milli(self) -> int:
        """Thousandths of a card, of all of them."""
        return gpu_milli(self.gpu) * self.members


@dataclass(frozen=True, slots=True)
class Waits:
    """Of what left the queue lately: how long half of it, and nine in ten, had waited at most."""

    p50: timedelta | None = None
    p90: timedelta | None = None
    started: int = 0

    @property
    def p50_s(self) -> float | None:
        return self.p50.total_seconds() if self.p50 is not None else None

    @property
    def p90_s(self) -> float | None:
        return self.p90.total_seconds() if self.p90 is not None else None


@dataclass(frozen=True, slots=True)
class Demand:
    """All that waits. Thousandths of cards; `causes` by how many tasks they hold up, most first."""

    tasks: int
    milli: int
    causes: tuple[tuple[str, int], ...]
    oldest: datetime | None


@lru_cache(maxsize=8)
def asked(focus: Focus, at: Passed) -> tuple[Asked, ...]:
    """One query over the whole queue, once per scheduling pass."""
    rows = (
        waiting(focus)
        .annotate(cause=KT("explanation__cause"), gpu=KeyTransform("gpu", "spec"))
        .order_by()
        .values("organisation_id", "cause", "gpu")
        .annotate(tasks=Count("pk"), members=Sum("member_count"), since=Min("queued_at"))
    )
    with memory_for_all():
        return tuple(
            Asked(
                row["organisation_id"],
                row["cause"] or "",
                request_of(row["gpu"]),
                row["tasks"],
                row["members"],
                row["since"],
            )
            for row in rows
        )


def summed(groups: Iterable[Asked]) -> Demand:
    groups = list(groups)
    causes: dict[str, int] = {}
    for group in groups:
        causes[group.cause] = causes.get(group.cause, 0) + group.tasks
    return Demand(
        tasks=sum(group.tasks for group in groups),
        milli=sum(group.milli for group in groups),
        causes=tuple(sorted(causes.items(), key=lambda pair: (-pair[1], pair[0]))),
        oldest=min((group.since for group in groups), default=None),
    )


class Percentile(Aggregate):
    """Continuous percentile of an ordered set; `share` between 0 and 1."""

    function = "PERCENTILE_CONT"
    template = "%(function)s(%(share)s) WITHIN GROUP (ORDER BY %(expressions)s)"

    def __init__(self, expression: str, share: float) -> None:
        super().__init__(expression, share=share, output_field=DurationField())


def waits(focus: Focus) -> Waits:
    """Of everything that was given a place in the last 24 hours."""
    return _waits(_left(focus).aggregate(**_PERCENTILES))


def waits_by_organisation(focus: Focus) -> dict[UUID, Waits]:
    rows: Iterable[Mapping[str, Any]] = _left(focus).order_by().values("organisation_id").annotate(**_PERCENTILES)
    return {row["organisation_id"]: _waits(row) for row in rows}


_PERCENTILES: dict[str, Aggregate] = {
    "p50": Percentile("waited", 0.5),
    "p90": Percentile("waited", 0.9),
    "started": Count("pk"),
}


def _waits(row: Mapping[str, Any]) -> Waits:
    return Waits(row["p50"], row["p90"], row["started"])


def _left(focus: Focus) -> QuerySet[Attempt]:
    """Attempts that left the queue lately. Only the newest of each workload: it forgets when it was queued before."""
    rows: QuerySet[Attempt] = Attempt.objects.filter(
        placed_at__gte=Now() - LATELY,
        node__cluster__zone__simulated=focus.simulated,
        number=F("workload__attempt_number"),
    )
    if focus.model:
        rows = rows.filter(Exists(Placement.objects.filter(attempt=OuterRef("pk"), accelerator__model=focus.model)))
    waited = ExpressionWrapper(F("placed_at") - F("workload__queued_at"), output_field=DurationField())
    return rows.annotate(waited=waited)
