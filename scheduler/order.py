"""Who goes next: organisations by guarantee and fair share, then priority, departments, users and age inside each.

Priority orders inside an organisation only. A task that does not start leaves its queue's standing as it was, so the
next one of the same queue is asked at once; one that starts moves its organisation, department and user back.
"""

import heapq
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field

from scheduler.backlog import Backlog, Level, Spot
from scheduler.catalogue import Entry
from scheduler.paths import Path, Paths
from scheduler.shares import Claimed, Shares

Absent = Callable[[Spot], bool]
Lane = tuple[str, str]  # organisation, what it was promised: see Shares.lanes
Rank = tuple[int, float, float, str, Level, tuple[tuple[float, float, str], ...], Lane]


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

    def skip(self, absent: Absent) -> None:
        while self.at < len(self.spots) and absent(self.spots[self.at]):
            self.at += 1

    @property
    def empty(self) -> bool:
        return not self.heap and self.at >= len(self.spots)


class Line:
    """Waiting tasks of one organisation at one level (priority, requeued first), fair between its parts.

    `absent`: whether a task has no place in it; None where all have.
    """

    def __init__(self, lines: Mapping[Path, Sequence[Spot]], paths: Paths, absent: Absent | None) -> None:
        self._paths, self._absent = paths, absent
        self._root = Knot(())
        self._kept: list[Knot] | None = None
        for path, spots in lines.items():
            self._insert(path, spots)
        self.sort()

    def _insert(self, path: Path, spots: Sequence[Spot]) -> None:
        knot = self._root
        for depth in range(1, len(path) + 1):
            knot = knot.children.setdefault(path[depth - 1], Knot(path[:depth]))
            knot.oldest = min(knot.oldest, spots[0].age)
        knot.spots = spots
        if self._absent is not None:
            knot.skip(self._absent)

    def sort(self) -> None:
        """Put all in order by present standings."""
        self._heapify(self._root)
        self._kept = None

    def _heapify(self, knot: Knot) -> None:
        for child in knot.children.values():
            self._heapify(child)
        knot.heap = [self._key(child) for child in knot.children.values() if not child.empty]
        heapq.heapify(knot.heap)

    def _key(self, knot: Knot) -> tuple[float, float, str]:
        return self._paths.standing(knot.path, bool(knot.spots)), knot.oldest, knot.path[-1]

    def _trail(self) -> list[Knot]:
        """The knots from the root to the one whose turn it is: the same for as long as no heap changes."""
        if self._kept is None:
            trail = self._kept = [self._root]
            while trail[-1].heap:
                trail.append(trail[-1].children[trail[-1].heap[0][2]])
        return self._kept

    def head(self) -> Entry | None:
        return self._trail()[-1].head()

    def way(self) -> tuple[tuple[float, float, str], ...]:
        """The standings on the way to the head."""
        return tuple(knot.heap[0] for knot in self._trail()[:-1])

    def advance(self, moved: bool) -> None:
        """Drop the head. `moved`: it started or has room reserved, so standings on its way have changed."""
        trail = self._trail()
        trail[-1].at += 1
        if self._absent is not None:
            trail[-1].skip(self._absent)
        if not moved and not trail[-1].empty:
            return
        self._kept = None
        for parent, child in zip(reversed(trail[:-1]), reversed(trail[1:]), strict=True):
            if child.empty:
                heapq.heappop(parent.heap)
            elif moved:
                heapq.heapreplace(parent.heap, self._key(child))


class Turns:
    """The whole queue. `next()` names the task whose turn it is; `done` must follow each time.

    Tasks that count against different promises of one organisation stand in lanes of their own, so that one that is
    outside what was promised of its model keeps nobody waiting who is inside of another. Where claims are equal, lanes
    of one organisation go in the order that they would have in one. `first`: tasks that come before all others, the
    oldest first.
    """

    def __init__(self, backlog: Backlog, shares: Shares, paths: Paths, now: float, first: Collection[str] = ()) -> None:
        self._backlog, self._shares, self._paths, self._now = backlog, shares, paths, now
        self._but = frozenset(first)
        ahead = [entry for task_id in self._but if (entry := backlog.entry(task_id)) is not None]
        self._first = sorted(ahead, key=lambda entry: (entry.task.submitted_at, entry.task.id), reverse=True)
        shares.compare(backlog.camps)
        self._lanes = {organisation: shares.lanes(organisation) for organisation in backlog.camps}
        self._lane_of: dict[tuple[str, int], str] = {}
        self._levels: dict[Lane, list[Level]] = {}
        self._lines: dict[Lane, Line] = {}
        every = ((organisation, lane) for organisation, lanes in self._lanes.items() for lane in lanes)
        self._heap = [self._rank(lane) for lane in every if self._open_line(lane)]
        heapq.heapify(self._heap)

    def _absent_from(self, lane: Lane) -> Absent | None:
        organisation, name = lane
        if len(self._lanes[organisation]) == 1:
            return (lambda spot: spot.task_id in self._but) if self._but else None
        return lambda spot: spot.task_id in self._but or self._lane(organisation, spot.entry) != name

    def _lane(self, organisation: str, entry: Entry) -> str:
        key = organisation, entry.key
        if key not in self._lane_of:
            self._lane_of[key] = self._shares.lane_of(organisation, entry.asked)
        return self._lane_of[key]

    def _open_line(self, lane: Lane) -> bool:
        """Make the next level its line; False when it has none left."""
        camp = self._backlog.camps[lane[0]]
        left = self._levels.setdefault(lane, sorted(camp.levels, reverse=True))
        while left:
            line = self._lines[lane] = Line(camp.levels[left[-1]], self._paths, self._absent_from(lane))
            if line.head() is not None:
                return True
            left.pop()
        return False

    def _rank(self, lane: Lane) -> Rank:
        organisation, line = lane[0], self._lines[lane]
        entry = line.head()
        claimed = self._shares.claim_on_promise(organisation, entry.asked) if entry is not None else Claimed.OUTSIDE
        oldest = self._backlog.camps[organisation].arrivals[0][0]
        way = line.way() if len(self._lanes[organisation]) > 1 else ()
        standing = self._shares.standing(organisation, self._now - oldest)
        return claimed, standing, oldest, organisation, self._levels[lane][-1], way, lane

    def next(self) -> Entry | None:
        if self._first:
            return self._first[-1]
        return self._lines[self._heap[0][-1]].head() if self._heap else None

    def done(self, moved: bool) -> None:
        """The task named last has been decided. `moved`: it started or has room reserved, and standings say so."""
        if self._first:
            self._first.pop()
            self._sort()
            return
        lane = self._heap[0][-1]
        line = self._lines[lane]
        line.advance(moved)
        if line.head() is None and not self._next_level(lane):
            heapq.heappop(self._heap)
        elif moved or self._shares.has_guarantees:
            heapq.heapreplace(self._heap, self._rank(lane))
        if moved and len(self._lanes[lane[0]]) > 1:
            self._sort_lanes(lane)

    def _next_level(self, lane: Lane) -> bool:
        self._levels[lane].pop()
        return self._open_line(lane)

    def _sort_lanes(self, moved: Lane) -> None:
        """What started in one lane has moved the others of its organisation."""
        for lane in {rank[-1] for rank in self._heap} - {moved}:
            if lane[0] == moved[0]:
                self._lines[lane].sort()
        self._sort()

    def _sort(self) -> None:
        self._heap = [self._rank(rank[-1]) for rank in self._heap]
        heapq.heapify(self._heap)
