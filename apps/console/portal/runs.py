"""The overview's runs: what lives, and what has ended lately."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from decimal import Decimal
from typing import Any
from uuid import UUID

from django.db.models import Case, Count, IntegerField, Q, QuerySet, Value, When

from apps.billing.consumption.spending import spent_today
from apps.common.actor import Actor
from apps.common.clock import db_now
from apps.common.prepared import prepared
from apps.training import selectors as training
from apps.training.models import Run
from apps.workloads.choices import LIVE, Status
from apps.workloads.models import Attempt, Workload
from apps.workloads.selectors import STALE_AFTER, bare
from apps.workloads.waiting import WaitReport, explain

SHOWN = 12
LATELY = timedelta(hours=24)


@dataclass(frozen=True, slots=True)
class Row:
    """One run as the table shows it. `rate` is None while it costs nothing; `today_fen` is exact."""

    run: Run
    attempt: Attempt | None
    stale: bool
    wait: WaitReport | None
    rate: Decimal | None
    today_fen: Decimal

    @property
    def usage(self) -> dict[str, Any]:
        """The last measurement, empty once it has ended."""
        return self.attempt.usage if self.attempt and self.attempt.ended_at is None else {}


def rows(actor: Actor, *, everyones: bool) -> list[Row]:
    """Living runs first, then those that ended within a day; the newest of each first."""
    found = _recent(actor, everyones, since=db_now() - LATELY)
    ids = [run.workload_id for run in found]
    attempts = {attempt.workload_id: attempt for attempt in _attempts(actor, workload_ids=tuple(ids))}
    spent = spent_today(ids)
    now = db_now()
    return [_row(run, attempts.get(run.workload_id), spent.get(run.workload_id, Decimal(0)), now) for run in found]


def scope(actor: Actor, *, everyones: bool) -> QuerySet[Run]:
    """One's own runs; with `everyones` those of the organisation, as far as the actor may see them."""
    found = training.in_list(actor)
    return found if everyones else found.filter(owner_id=actor.user_id)


@prepared
def _recent(actor: Actor, everyones: bool, /, *, since: datetime) -> QuerySet[Run]:
    lately = Q(workload__status__in=LIVE) | Q(workload__ended_at__gte=since)
    ended = Case(When(workload__status__in=LIVE, then=Value(0)), default=Value(1), output_field=IntegerField())
    return scope(actor, everyones=everyones).filter(lately).order_by(ended, "-created_at", "-pk")[:SHOWN]


@prepared
def _attempts(actor: Actor, /, *, workload_ids: tuple[UUID, ...]) -> QuerySet[Attempt]:
    """The last attempt of each workload."""
    last = Attempt.objects.filter(workload_id__in=workload_ids).select_related("node")
    return last.order_by("workload_id", "-number").distinct("workload_id")


def _row(run: Run, attempt: Attempt | None, today: Decimal, now: datetime) -> Row:
    workload = run.workload
    stale = attempt is not None and workload.is_live and _is_stale(attempt, now)
    charged = workload.status == Status.RUNNING and not stale  # what nobody can prove is not charged
    return Row(
        run=run,
        attempt=attempt,
        stale=stale,
        wait=explain(workload.explanation, gpu=workload.frozen_spec.gpu) if workload.status == Status.QUEUED else None,
        rate=run.paid_rate if charged else None,
        today_fen=today,
    )


def _is_stale(attempt: Attempt, now: datetime) -> bool:
    """As `workloads.selectors.is_stale`, against one look at the clock for all rows."""
    on_node = attempt.ended_at is None and attempt.handle is not None
    return on_node and now - (attempt.seen_at or attempt.placed_at) > STALE_AFTER


@dataclass(frozen=True, slots=True)
class Live:
    """How much work of every kind lives, by status: one's own, and all that the actor may see."""

    mine: Mapping[str, int]
    everyones: Mapping[str, int]

    @property
    def mine_count(self) -> int:
        return sum(self.mine.values())

    @property
    def count(self) -> int:
        return sum(self.everyones.values())


def live(actor: Actor) -> Live:
    mine: dict[str, int] = {}
    everyones: dict[str, int] = {}
    for status, owner, count in _living(actor):
        everyones[status] = everyones.get(status, 0) + count
        if owner == actor.user_id:
            mine[status] = mine.get(status, 0) + count
    return Live(mine, everyones)


@prepared
def _living(actor: Actor, /) -> QuerySet[Workload, tuple[str, int, int]]:
    rows = bare(actor).filter(status__in=LIVE).order_by()
    return rows.values_list("status", "owner_id").annotate(count=Count("pk"))
