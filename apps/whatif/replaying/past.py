"""The platform's own past as arrivals.

A task arrives when it was submitted, or at the span's start if that was before. It runs as long as it really ran (the
sum of its attempts' metered time), and each of its starts takes as long as its starts took on average. Treated apart:

- on its cards when the span began: it holds cards from the first moment, before all others, for what it had left;
- still live when it is replayed: nobody has seen its end, so once started it stays until the span's end;
- cancelled while it waited: it gives up again after the same wait; where it starts before, it runs as long as its like
  usually do (p50 of its history). Still waiting, the same without giving up. Neither has a history: left out, and told;
- never came up (start failed): it holds its cards as long as it held them, and earns nothing.
"""

import math
from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from decimal import Decimal
from typing import Any
from uuid import UUID

from django.db.models import Q, QuerySet

from apps.tenants.models import Organisation, User
from apps.workloads.models import Attempt, Workload
from apps.workloads.queueing.tasks_of import task_of
from apps.workloads.simulation_scope import of_world
from scheduler.estimate import History
from scheduler.replay import Arrival
from scheduler.types import Task

LEARN_FROM = 2000


@dataclass(frozen=True, slots=True)
class Stay:
    """One attempt on its cards, in seconds since the epoch; None for what has not happened."""

    placed: float
    started: float | None
    ended: float | None


@dataclass(frozen=True, slots=True)
class Past:
    """The arrivals of a span, what they paid, and their owners."""

    arrivals: tuple[Arrival, ...]
    past: tuple[tuple[Task, float], ...]
    rates: Mapping[str, Decimal]
    packages: Mapping[str, str]
    organisations: Mapping[str, str]
    users: Mapping[str, str]
    guessed: int
    left_out: int


def workloads_within(start: datetime, end: datetime, simulated: bool) -> QuerySet[Workload]:
    """Everything that waited or ran inside the span, of one world."""
    rows: QuerySet[Workload] = Workload.objects.filter(
        of_world(simulated), Q(ended_at__isnull=True) | Q(ended_at__gt=start), created_at__lt=end
    )
    return rows


def count(start: datetime, end: datetime, simulated: bool) -> int:
    return workloads_within(start, end, simulated).count()


def past_between(start: datetime, end: datetime, simulated: bool) -> Past:
    """Call in the platform's scope."""
    here = workloads_within(start, end, simulated)
    rows, stays = list(here.select_related("price_version").order_by("created_at", "pk")), _stays(here)
    before = _known_durations(start, simulated)
    like = _history(before, rows, stays)
    arrivals: list[Arrival] = []
    guessed = left_out = 0
    for row in rows:
        one = _arrival(row, stays[row.pk], start.timestamp())
        if one is None:
            known = like.estimate(_task(row))
            one = None if known is None else _guess(row, known[0], start)
            guessed, left_out = guessed + (one is not None), left_out + (one is None)
        if one is not None:
            arrivals.append(one)
    return Past(
        tuple(arrivals),
        before,
        {str(row.pk): row.price_version.rate_fen_per_hour for row in rows},
        {str(row.pk): str(row.package_id) for row in rows},
        _names(Organisation.objects.all(), "name", {row.organisation_id for row in rows}),
        _names(User.objects.all(), "username", {row.owner_id for row in rows}),
        guessed,
        left_out,
    )


def _names(rows: Any, field: str, ids: set[Any]) -> dict[str, str]:
    return {str(pk): name for pk, name in rows.filter(pk__in=ids).values_list("pk", field)}


def _task(row: Workload) -> Task:
    """As it was submitted: its first time in the queue."""
    return replace(task_of(row), submitted_at=row.created_at.timestamp(), requeued=False)


def _stays(here: QuerySet[Workload]) -> defaultdict[UUID, list[Stay]]:
    stays: defaultdict[UUID, list[Stay]] = defaultdict(list)
    rows = Attempt.objects.filter(workload__in=here).order_by("workload_id", "number")
    for pk, placed, started, ended in rows.values_list("workload_id", "placed_at", "started_at", "ended_at"):
        stays[pk].append(Stay(placed.timestamp(), _seconds(started), _seconds(ended)))
    return stays


def _seconds(when: datetime | None) -> float | None:
    return None if when is None else when.timestamp()


def _run_seconds(stay: Stay, until: float = math.inf) -> float:
    """Seconds that it ran before `until`; infinite if it still runs."""
    if stay.started is None:
        return 0.0
    return max(0.0, min(math.inf if stay.ended is None else stay.ended, until) - stay.started)


def _startup(stays: list[Stay]) -> float:
    """Mean seconds from placement to the first sign of running; its whole stay if it never ran."""
    taken = [(stay.started if stay.started is not None else stay.ended or stay.placed) - stay.placed for stay in stays]
    return max(0.0, sum(taken) / len(taken)) if taken else 0.0


def _arrival(row: Workload, stays: list[Stay], start: float) -> Arrival | None:
    """None for one that was never on any cards."""
    if not stays:
        return None
    live = row.ended_at is None
    run = math.inf if live else sum(_run_seconds(stay) for stay in stays)
    here = next((s for s in stays if s.placed <= start and (s.ended is None or s.ended > start)), None)
    done = sum(_run_seconds(stay, start) for stay in stays)
    left, task = max(0.0, run - done), _task(row)
    if here is not None:
        return Arrival(task, left, 0.0 if here.started is not None else _startup(stays), carried=True)
    again = any(stay.placed <= start for stay in stays)
    return Arrival(replace(task, requeued=again), left, _startup(stays))


def _guess(row: Workload, run_s: float, start: datetime) -> Arrival:
    waited = None if row.ended_at is None else (row.ended_at - max(start, row.created_at)).total_seconds()
    return Arrival(_task(row), run_s, gives_up_s=waited)


def _known_durations(start: datetime, simulated: bool) -> tuple[tuple[Task, float], ...]:
    """Runs that had ended when the span began, oldest first: what the platform knew then."""
    rows = Workload.objects.filter(of_world(simulated), started_at__isnull=False, ended_at__lte=start)
    newest = list(rows.order_by("-ended_at")[:LEARN_FROM])
    return tuple(
        (_task(row), (row.ended_at - row.started_at).total_seconds())
        for row in reversed(newest)
        if row.ended_at is not None and row.started_at is not None
    )


def _history(before: tuple[tuple[Task, float], ...], rows: list[Workload], stays: Mapping[UUID, list[Stay]]) -> History:
    """Durations of all that ended before the span or in it, to guess those that nobody has seen."""
    history = History()
    for task, seconds in before:
        history.record(task, seconds)
    for row in rows:
        if row.ended_at is not None and stays.get(row.pk):
            history.record(_task(row), sum(_run_seconds(stay) for stay in stays[row.pk]))
    return history
