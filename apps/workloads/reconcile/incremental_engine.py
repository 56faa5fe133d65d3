"""The scheduler's engine, kept between passes: only what started, ended or changed is read and told to it.

The database stays the only truth. The engine is thrown away and made anew when nodes or cards changed, when somebody
else has scheduled since, when a pass did not commit, when what is held does not add up, and every quarter of an hour.
"""

from collections.abc import Collection
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta

import scheduler
from apps.workloads.reconcile import row_digests, snapshot, topology_version
from apps.workloads.reconcile.history import Lesson, estimated_running
from apps.workloads.reconcile.row_digests import Marks

RENEW = timedelta(minutes=15)
# An estimate of what runs is replaced once it is off by more than this.
MOVED = 0.1


@dataclass(slots=True)
class LiveWorld:
    """One world's engine and what it was told. By attempt: `running`; `seen`, its mark then; `placed`, since when."""

    simulated: bool
    digest: str
    mix: scheduler.Mix | None
    min_runtime_s: float
    made_at: datetime
    nodes: tuple[scheduler.Node, ...]
    engine: scheduler.Engine
    seen: Marks = field(default_factory=dict)
    placed: dict[str, datetime] = field(default_factory=dict)
    closed: frozenset[str] = frozenset()
    running: dict[str, tuple[scheduler.Running, ...]] = field(default_factory=dict)
    unexplained: tuple[int, int] = (0, 0)

    def follow(self, here: Marks, lesson: Lesson, now: datetime) -> bool:
        """Tell the engine what changed; False when what it then holds is not what the database says is held."""
        changed = [attempt for attempt, mark in here.items() if self.seen.get(attempt) != mark]
        for attempt in [attempt for attempt, mark in self.seen.items() if here.get(attempt) != mark]:
            self._end(attempt)
            self.placed.pop(attempt, None)
        # One that changes meanwhile keeps the older mark, so the next look reads it once more.
        rows = snapshot.live(self.simulated, changed)
        self.placed.update({str(row.attempt): row.placed_at for row in rows})
        self._start(snapshot.running_members(rows, lesson, now, self.min_runtime_s))
        self.seen = here
        self._estimate_again(lesson, now)
        return self.doubt() == self.unexplained

    def _end(self, attempt: str) -> None:
        members = self.running.pop(attempt, ())
        if members:
            self.engine.end(members[0].task.id)

    def _start(self, members: Collection[scheduler.Running]) -> None:
        self.engine.start(members)
        for member in members:
            self.running[member.attempt_id] = (*self.running.get(member.attempt_id, ()), member)

    def _estimate_again(self, lesson: Lesson, now: datetime) -> None:
        """What runs longer than was expected of it is expected to go on for a while."""
        moved: list[scheduler.Running] = []
        for attempt, members in list(self.running.items()):
            before = members[0].task
            elapsed = (now - self.placed[attempt]).total_seconds()
            if before.estimate_p50_s is None or elapsed > before.estimate_p50_s:
                task = estimated_running(before, lesson, elapsed)
                if _moved(before.estimate_p50_s, task.estimate_p50_s):
                    self._end(attempt)
                    moved += [replace(member, task=task) for member in members]
        self._start(moved)

    def all_running(self) -> tuple[scheduler.Running, ...]:
        """Every member of every attempt."""
        return tuple(member for members in self.running.values() for member in members)

    def doubt(self) -> tuple[int, int]:
        """By how many pieces of cards, and milli-cards, the database and the engine differ."""
        pieces, milli = snapshot.held_slices(self.simulated)
        slices = [piece for member in self.all_running() for piece in member.slices]
        return pieces - len(slices), milli - sum(piece.core_milli for piece in slices)


def _moved(before: float | None, after: float | None) -> bool:
    if before is None or after is None:
        return before != after
    return abs(after - before) > MOVED * before


def follow(
    world: LiveWorld | None,
    now: datetime,
    lesson: Lesson,
    mix: scheduler.Mix | None,
    *,
    min_runtime_s: float,
    simulated: bool,
    closed: frozenset[str] = frozenset(),
) -> LiveWorld:
    """The world as it is now: the one that was kept, brought up to date, or a new one.

    `closed`: ids of nodes on which nothing is to be placed, besides those that their own state closes.
    """
    digest = topology_version.digest(now, simulated)
    here = row_digests.live_digests(simulated)
    if world is not None and now - world.made_at < RENEW:
        was = world.digest, world.mix, world.min_runtime_s, world.closed
        if was == (digest, mix, min_runtime_s, closed) and world.follow(here, lesson, now):
            return world
    nodes = tuple(_shut(node, closed) for node in snapshot.nodes(now, simulated))
    engine = scheduler.Engine(nodes, (), mix)
    made = LiveWorld(simulated, digest, mix, min_runtime_s, now, nodes, engine, closed=closed)
    made.follow(here, lesson, now)
    # Pieces of cards that were never told to an engine, as of a node that was removed: known, so no reason for doubt.
    made.unexplained = made.doubt()
    return made


def _shut(node: scheduler.Node, closed: frozenset[str]) -> scheduler.Node:
    return replace(node, schedulable=False) if node.id in closed else node
