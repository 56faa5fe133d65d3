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
from apps.training import selectors as training
from apps.training.models import Run
from apps.workloads.choices import LIVE, Status
from apps.workloads.models import Attempt
from apps.workloads.selectors import STALE_AFTER
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
    found = list(_recent(scope(actor, everyones=everyones))[:SHOWN])
    ids = [run.workload_id for run in found]
    attempts, spent = _attempts(ids), spent_today(ids)
    now = db_now()
    return [_row(run, attempts.get(run.workload_id), spent.get(run.workload_id, Decimal(0)), now) for run in found]


def scope(actor: Actor, *, everyones: bool) -> QuerySet[Run]:
    """One's own runs; with `everyones` those of the organisation, as far as the actor may see them."""
    visible = training.runs(actor)
    return visible if everyones else visible.filter(owner_id=actor.user_id)


def _recent(runs: QuerySet[Run]) -> QuerySet[Run]:
    lately = Q(workload__status__in=LIVE) | Q(workload__ended_at__gte=db_now() - LATELY)
    ended = Case(When(workload__status__in=LIVE, then=Value(0)), default=Value(1), output_field=IntegerField())
    return runs.filter(lately).order_by(ended, "-created_at", "-pk")


def _attempts(workload_ids: list[UUID]) -> dict[UUID, Attempt]:
    """The last attempt of each workload."""
    last = Attempt.objects.filter(workload_id__in=workload_ids).select_related("node")
    return {attempt.workload_id: attempt for attempt in last.order_by("workload_id", "-number").distinct("workload_id")}


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
    """How many runs live: one's own by status, and all that the actor may see."""

    mine: Mapping[str, int]
    everyones: int


def live(actor: Actor) -> Live:
    rows = scope(actor, everyones=True).filter(workload__status__in=LIVE).order_by()
    grouped = list(rows.values_list("workload__status", "owner_id").annotate(count=Count("pk")))
    mine = {status: count for status, owner, count in grouped if owner == actor.user_id}
    return Live(mine, sum(count for _status, _owner, count in grouped))
