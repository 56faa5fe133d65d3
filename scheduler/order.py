"""Who goes next: organisations by guarantee and fair share, then priority, departments, users and age inside each.

Priority orders inside an organisation only. A task that does not start leaves its queue's standing as it was, so the
next one of the same queue is asked at once; one that starts moves its organisation, department and user back.
"""

import heapq
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field

from scheduler.backlog import Backlog, Level, Spot
from scheduler.catalogue import Entry
from scheduler.paths import Path, Paths
from scheduler.shares import Claimed, Shares


@dataclass(slots=True)
class Knot:
    """A department or user with waiting tasks. `heap` orders the children: (standing, age of the first, name).

    `spots[at:]` are still to come.
    """

    path: Path
    spots: Sequence[Spot] = ()
    at: int = 0
    children: dict[str, "Knot"] = field(default_factory=dict)
    heap: list[tuple[float, float, str]] = field(default_factory=list)
    oldest: float = float("inf")

    def head(self) -> Entry | None:
        return self.spots[self.at].entry if self.at < len(self.spots) else None

    def skip(self, but: Collection[str]) -> None:
        while self.at < len(self.spots) and self.spots[self.at].task_id in but:
            self.at += 1

    @property
    def empty(self) -> bool:
        return not self.heap and self.at >= len(self.spots)


class Line:
    """Waiting tasks of one organisation at one level (priority, requeued first), fair between its parts.

    `but`: tasks that have no place in it.
    """

    def __init__(self, lines: Mapping[Path, Sequence[Spot]], paths: Paths, but: Collection[str]) -> None:
        self._paths, self._but = paths, but
        self._root = Knot(())
        for path, spots in lines.items():
            self._insert(path, spots)
        self._heapify(self._root)

    def _insert(self, path: Path, spots: Sequence[Spot]) -> None:
        knot = self._root
        for depth in range(1, len(path) + 1):
            knot = knot.children.setdefault(path[depth - 1], Knot(path[:depth]))
            knot.oldest = min(knot.oldest, spots[0].age)
        knot.spots = spots
        if self._but:
            knot.skip(self._but)

    def _heapify(self, knot: Knot) -> None:
        for child in knot.children.values():
            self._heapify(child)
        knot.heap = [self._key(child) for child in knot.children.values() if not child.empty]
        heapq.heapify(knot.heap)

    def _key(self, knot: Knot) -> tuple[float, float, str]:
        return self._paths.standing(knot.path, bool(knot.spots)), knot.oldest, knot.path[-1]

    def _trail(self) -> list[Knot]:
        """The knots from the root to the one whose turn it is."""
        trail = [self._root]
        while trail[-1].heap:
            trail.append(trail[-1].children[trail[-1].heap[0][2]])
        return trail

    def head(self) -> Entry | None:
        return self._trail()[-1].head()

    def advance(self, moved: bool) -> None:
        """Drop the head. `moved`: it started, so standings on its way have changed."""
        trail = self._trail()
        trail[-1].at += 1
        if self._but:
            trail[-1].skip(self._but)
        for parent, child in zip(reversed(trail[:-1]), reversed(trail[1:]), strict=True):
            if child.empty:
                heapq.heappop(parent.heap)
            elif moved:
                heapq.heapreplace(parent.heap, self._key(child))


class Turns:
    """The whole queue. `next()` names the task whose turn it is; `done` must follow each time.

    `first`: tasks that come before all others, the oldest first.
    """

    def __init__(self, backlog: Backlog, shares: Shares, paths: Paths, now: float, first: Collection[str] = ()) -> None:
        self._backlog, self._shares, self._paths, self._now = backlog, shares, paths, now
        self._but = frozenset(first)
        ahead = [entry for task_id in self._but if (entry := backlog.entry(task_id)) is not None]
        self._first = sorted(ahead, key=lambda entry: (entry.task.submitted_at, entry.task.id), reverse=True)
        self._levels: dict[str, list[Level]] = {}
        self._lines: dict[str, Line] = {}
        self._heap = [self._key(o) for o in backlog.camps if self._open_line(o)]
        heapq.heapify(self._heap)

    def _open_line(self, organisation: str) -> bool:
        """Make the organisation's next level its line; False when it has none left."""
        camp = self._backlog.camps[organisation]
        left = self._levels.setdefault(organisation, sorted(camp.levels, reverse=True))
        while left:
            line = self._lines[organisation] = Line(camp.levels[left.pop()], self._paths, self._but)
            if line.head() is not None:
                return True
        return False

    def _key(self, organisation: str) -> tuple[int, float, float, str]:
        entry = self._lines[organisation].head()
        claimed = self._shares.claim_on_promise(organisation, entry.asked) if entry is not None else Claimed.OUTSIDE
        oldest = self._backlog.camps[organisation].arrivals[0][0]
        return claimed, self._shares.standing(organisation, self._now - oldest), oldest, organisation

    def next(self) -> Entry | None:
        if self._first:
            return self._first[-1]
        return self._lines[self._heap[0][3]].head() if self._heap else None

    def done(self, moved: bool) -> None:
        """The task named last has been decided. `moved`: it started; shares and paths are up to date by now."""
        if self._first:
            self._first.pop()
            self._heap = [self._key(key[3]) for key in self._heap]
            heapq.heapify(self._heap)
            return
        organisation = self._heap[0][3]
        line = self._lines[organisation]
        line.advance(moved)
        if line.head() is None and not self._open_line(organisation):
            heapq.heappop(self._heap)
        elif moved or self._shares.has_guarantees:
            heapq.heapreplace(self._heap, self._key(organisation))
