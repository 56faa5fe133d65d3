"""Who goes next: organisations by guarantee and fair share, then priority, departments, users and age inside each.

Priority orders inside an organisation only. A task that does not start leaves its queue's standing as it was, so the
next one of the same queue is asked at once; one that starts moves its organisation, department and user back.
"""

import heapq
from collections import defaultdict
from collections.abc import Container, Sequence
from dataclasses import dataclass, field

from scheduler.catalogue import Entry
from scheduler.horizon import UNKNOWN_P50_S
from scheduler.shares import Claimed, Shares
from scheduler.types import Queue, QueueLevel, Task

Path = tuple[str, ...]
Level = tuple[int, bool]


class Paths:
    """Place of tasks in the tree below the organisation, weights, and use per knot.

    Use is the sum of its members' dominant shares, in whole parts of the cluster (`Shares.parts`).
    """

    def __init__(self) -> None:
        self._parent: dict[tuple[str, str], str] = {}
        self._weight: dict[tuple[str, QueueLevel, str], float] = {}
        self._used: defaultdict[Path, int] = defaultdict(int)
        self._known: dict[tuple[str, str, str], Path] = {}

    def govern(self, queues: Sequence[Queue]) -> bool:
        """Take these weights and this tree; True when the tree has changed, and use must be counted anew."""
        self._weight = {(q.organisation, q.level, q.id): q.weight for q in queues if q.weight > 0}
        parent = {(q.organisation, q.id): q.parent for q in queues if q.level is QueueLevel.DEPARTMENT}
        if parent == self._parent:
            return False
        self._parent = parent
        self._used.clear()
        self._known.clear()
        return True

    def of(self, task: Task) -> Path:
        """(organisation, department, sub-department, ..., user)."""
        key = (task.organisation, task.department, task.user)
        if key not in self._known:
            self._known[key] = (task.organisation, *self._departments(task), task.user)
        return self._known[key]

    def _departments(self, task: Task) -> list[str]:
        chain: list[str] = []
        department = task.department
        while department and department not in chain:
            chain.insert(0, department)
            department = self._parent.get((task.organisation, department), "")
        return chain

    def charge(self, task: Task, parts: int) -> None:
        path = self.of(task)
        for depth in range(2, len(path) + 1):
            self._used[path[:depth]] += parts

    def standing(self, path: Path, leaf: bool) -> float:
        level = QueueLevel.USER if leaf else QueueLevel.DEPARTMENT
        return self._used[path] / self._weight.get((path[0], level, path[-1]), 1.0)


@dataclass(slots=True)
class Knot:
    """A department or user with waiting tasks. `heap` orders the children: (standing, oldest, name)."""

    path: Path
    entries: list[Entry] = field(default_factory=list)
    children: dict[str, "Knot"] = field(default_factory=dict)
    heap: list[tuple[float, float, str]] = field(default_factory=list)
    oldest: float = float("inf")


class Line:
    """Waiting tasks of one organisation at one level (priority, requeued first), fair between its parts.

    `entries` come last first.
    """

    def __init__(self, entries: Sequence[Entry], paths: Paths) -> None:
        self._paths = paths
        self._root = Knot(())
        for entry in entries:
            self._insert(entry)
        self._heapify(self._root)

    def _insert(self, entry: Entry) -> None:
        knot = self._root
        path = self._paths.of(entry.task)
        for depth in range(1, len(path) + 1):
            knot = knot.children.setdefault(path[depth - 1], Knot(path[:depth]))
            knot.oldest = min(knot.oldest, entry.task.submitted_at)
        knot.entries.append(entry)

    def _heapify(self, knot: Knot) -> None:
        for child in knot.children.values():
            self._heapify(child)
        knot.heap = [self._key(child) for child in knot.children.values()]
        heapq.heapify(knot.heap)

    def _key(self, knot: Knot) -> tuple[float, float, str]:
        return self._paths.standing(knot.path, bool(knot.entries)), knot.oldest, knot.path[-1]

    def _trail(self) -> list[Knot]:
        """The knots from the root to the one whose turn it is."""
        trail = [self._root]
        while trail[-1].heap:
            trail.append(trail[-1].children[trail[-1].heap[0][2]])
        return trail

    def head(self) -> Entry | None:
        entries = self._trail()[-1].entries
        return entries[-1] if entries else None

    def advance(self, moved: bool) -> None:
        """Drop the head. `moved`: it started, so standings on its way have changed."""
        trail = self._trail()
        trail[-1].entries.pop()
        for parent, child in zip(reversed(trail[:-1]), reversed(trail[1:]), strict=True):
            if not child.entries and not child.heap:
                heapq.heappop(parent.heap)
            elif moved:
                heapq.heapreplace(parent.heap, self._key(child))


class Turns:
    """The whole queue. `next()` names the task whose turn it is; `done` must follow each time."""

    def __init__(
        self,
        waiting: Sequence[Entry],
        shares: Shares,
        paths: Paths,
        now: float,
        first: Container[str] = (),
        patience: float = 0.0,
    ) -> None:
        self._shares, self._paths, self._now, self._patience = shares, paths, now, patience
        self._first = sorted((e for e in waiting if e.task.id in first), key=self._age, reverse=True)
        self._levels: defaultdict[str, defaultdict[Level, list[Entry]]] = defaultdict(lambda: defaultdict(list))
        for entry in waiting:
            if entry.task.id not in first:
                self._levels[entry.task.organisation][-entry.task.priority, not entry.task.requeued].append(entry)
        self._oldest = {
            organisation: min(entry.task.submitted_at for entries in levels.values() for entry in entries)
            for organisation, levels in self._levels.items()
        }
        self._lines: dict[str, Line] = {}
        self._heap = [self._key(o) for o in list(self._levels) if self._open_line(o)]
        heapq.heapify(self._heap)

    def _age(self, entry: Entry) -> tuple[float, str]:
        """Order inside a line: arrival, plus `patience` times the expected run.

        A task lets later ones pass only if they are shorter by more than they came later, over `patience`.
        """
        task = entry.task
        expected = task.estimate_p50_s if task.estimate_p50_s is not None else UNKNOWN_P50_S
        return task.submitted_at + self._patience * expected, task.id

    def _open_line(self, organisation: str) -> bool:
        """Make the organisation's next level its line; False when it has none left."""
        levels = self._levels[organisation]
        if not levels:
            return False
        entries = sorted(levels.pop(min(levels)), key=self._age, reverse=True)
        self._lines[organisation] = Line(entries, self._paths)
        return True

    def _key(self, organisation: str) -> tuple[int, float, float, str]:
        entry = self._lines[organisation].head()
        claimed = self._shares.claim_on_promise(organisation, entry.asked) if entry is not None else Claimed.OUTSIDE
        oldest = self._oldest[organisation]
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
