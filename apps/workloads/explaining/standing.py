"""Each world as it was when it was last asked about, with the answers given since: good until something happens."""

from collections.abc import Hashable
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from threading import Lock
from typing import Any

from django.db.models import Count, Subquery

from apps.workloads.models import Attempt, Event
from apps.workloads.queueing import mix, policy
from apps.workloads.reconcile import incremental_engine, snapshot, topology_version
from apps.workloads.reconcile.history import Lesson, learned

# Without news an answer holds for so long, and what is expected of the running work's ends: these move with the clock.
HOLDS, FOLLOWED = timedelta(seconds=5), timedelta(minutes=1)


@dataclass(slots=True)
class Standing:
    """`marker`: whatever changes when anything starts, ends, waits, or happens to the machines."""

    world: incremental_engine.LiveWorld
    lesson: Lesson
    marker: tuple[Any, ...]
    at: datetime
    followed_at: datetime
    answers: dict[Hashable, object] = field(default_factory=dict)


# The engines take and give back room while they think, so one thread at a time.
ALONE = Lock()

# One for each world.
_standing: dict[bool, Standing] = {}


def standing_of(now: datetime, *, simulated: bool) -> Standing:
    """The one that is kept where nothing has happened since, or a new one. Only while holding `ALONE`."""
    marker, known = _marker(now, simulated), _standing.get(simulated)
    if known is None or known.marker != marker or not _within(FOLLOWED, known.followed_at, now):
        _standing[simulated] = _followed(_standing.pop(simulated, None), marker, now, simulated)
    elif not _within(HOLDS, known.at, now):
        _standing[simulated] = replace(known, at=now, answers={})
    return _standing[simulated]


def _within(span: timedelta, since: datetime, now: datetime) -> bool:
    return timedelta(0) <= now - since < span


def _followed(before: Standing | None, marker: tuple[Any, ...], now: datetime, simulated: bool) -> Standing:
    """Brought up to date. Where that fails half-way nothing is kept, and the next one is made anew."""
    lesson = learned(now, simulated=simulated)
    world = incremental_engine.follow(
        before.world if before else None,
        now,
        lesson,
        mix.from_json(snapshot.mix_of_epoch(simulated)).used,
        min_runtime_s=policy.rules().min_runtime_s,
        simulated=simulated,
    )
    return Standing(world, lesson, marker, now, now)


def _marker(now: datetime, simulated: bool) -> tuple[Any, ...]:
    """Every change of a workload appends an event in its own transaction; machines and cards have their digest."""
    live = Attempt.objects.filter(ended_at__isnull=True).order_by().values("ended_at").annotate(count=Count("pk"))
    newest = Event.objects.order_by("-pk").values_list("pk", Subquery(live.values("count")))
    return newest.first(), topology_version.digest(now, simulated)
