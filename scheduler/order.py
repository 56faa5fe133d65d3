"""Who goes next: organisations by guarantee and fair share, then priority, departments, users and age inside each.

Priority orders inside an organisation only. A task that does not start leaves its queue's standing as it was, so the
next one of the same queue is asked at once; one that starts moves its organisation, department and user back.
"""

import heapq
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from scheduler.demand import least_members
from scheduler.shares import Shares, asked_by
from scheduler.types import Queue, QueueLevel, Task

Path = tuple[str, ...]
Level = tuple[int, bool]


class Paths:
    """Place of tasks in the tree below the organisation, weights, and use per knot (as dominant share)."""

    def __init__(self, queues: Sequence[Queue]) -> None:
        self._parent = {(q.organisation, q.id): q.parent for q in queues if q.level is QueueLevel.DEPARTMENT}
        self._weight = {(q.organisation, q.level, q.id): q.weight for q in queues if q.weight > 0}
        self._used: defaultdict[Path, float] = defaultdict(float)
        self._known: dict[tuple[str, str, str], Path] = {}

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

    def add(self, path: Path, share: float) -> None:
        for depth in range(2, len(path) + 1):
            self._used[path[:depth]] += share

    def standing(self, path: Path, leaf: bool) -> float:
        level = QueueLevel.USER if leaf else QueueLevel.DEPARTMENT
        return self._used[path] / self._weight.get((path[0], level, path[-1]), 1.0)


@dataclass(slots=True)
class Knot:
    """A department or user with waiting tasks. `heap` orders the children: (standing, oldest, name)."""

    path: Path
    tasks: list[Task] = field(default_factory=list)
    children: dict[str, "Knot"] = field(default_factory=dict)
    heap: list[tuple[float, float, str]] = field(default_factory=list)
    oldest: float = float("inf")


class Line:
    """Waiting tasks of one organisation at one level (priority, requeued first), fair between its parts."""

    def __init__(self, tasks: Sequence[Task], paths: Paths) -> None:
        self._paths = paths
        self._root = Knot(())
        for task in sorted(tasks, key=lambda t: (t.submitted_at, t.id), reverse=True):
            self._insert(task)
        self._heapify(self._root)

    def _insert(self, task: Task) -> None:
        knot = self._root
        path = self._paths.of(task)
        for depth in range(1, len(path) + 1):
            knot = knot.children.setdefault(path[depth - 1], Knot(path[:depth]))
            knot.oldest = min(knot.oldest, task.submitted_at)
        knot.tasks.append(task)

    def _heapify(self, knot: Knot) -> None:
        for child in knot.children.values():
            self._heapify(child)
        knot.heap = [self._key(child) for child in knot.children.values()]
        heapq.heapify(knot.heap)

    def _key(self, knot: Knot) -> tuple[float, float, str]:
        return self._paths.standing(knot.path, bool(knot.tasks)), knot.oldest, knot.path[-1]

    def _trail(self) -> list[Knot]:
        """The knots from the root to the one whose turn it is."""
        trail = [self._root]
        while trail[-1].heap:
            trail.append(trail[-1].children[trail[-1].heap[0][2]])
        return trail

    def head(self) -> Task | None:
        tasks = self._trail()[-1].tasks
        return tasks[-1] if tasks else None

    def advance(self, moved: bool) -> None:
        """Drop the head. `moved`: it started, so standings on its way have changed."""
        trail = self._trail()
        trail[-1].tasks.pop()
        for parent, child in zip(reversed(trail[:-1]), reversed(trail[1:]), strict=True):
            if not child.tasks and not child.heap:
                heapq.heappop(parent.heap)
            elif moved:
                heapq.heapreplace(parent.heap, self._key(child))


class Turns:
    """The whole queue. `next()` names the task whose turn it is; `done` must follow each time."""

    def __init__(
        self, waiting: Sequence[Task], shares: Shares, paths: Paths, now: float, first: Mapping[str, object]
    ) -> None:
        self._shares, self._paths, self._now = shares, paths, now
        self._first = sorted((t for t in waiting if t.id in first), key=lambda t: (t.submitted_at, t.id), reverse=True)
        self._levels: defaultdict[str, defaultdict[Level, list[Task]]] = defaultdict(lambda: defaultdict(list))
        self._oldest: dict[str, float] = {}
        for task in waiting:
            if task.id not in first:
                self._levels[task.organisation][(-task.priority, not task.requeued)].append(task)
                self._oldest[task.organisation] = min(
                    task.submitted_at, self._oldest.get(task.organisation, task.submitted_at)
                )
        self._lines: dict[str, Line] = {}
        self._heap = [self._key(o) for o in list(self._levels) if self._open_line(o)]
        heapq.heapify(self._heap)

    def _open_line(self, organisation: str) -> bool:
        """Make the organisation's next level its line; False when it has none left."""
        levels = self._levels[organisation]
        if not levels:
            return False
        self._lines[organisation] = Line(levels.pop(min(levels)), self._paths)
        return True

    def _key(self, organisation: str) -> tuple[bool, float, float, str]:
        task = self._lines[organisation].head()
        promised = task is not None and self._shares.within_guarantee(organisation, asked_by(task, least_members(task)))
        oldest = self._oldest[organisation]
        return not promised, self._shares.standing(organisation, self._now - oldest), oldest, organisation

    def next(self) -> Task | None:
        if self._first:
            return self._first[-1]
        return self._lines[self._heap[0][3]].head() if self._heap else None

    def done(self, moved: bool) -> None:
        """The task named last has been decided. `moved`: it started; shares and paths are up to date by now."""
        if self._first:
            self._first.pop()
            self._heap = [self._key(entry[3]) for entry in self._heap]
            heapq.heapify(self._heap)
            return
        organisation = self._heap[0][3]
        line = self._lines[organisation]
        line.advance(moved)
        if line.head() is None and not self._open_line(organisation):
            heapq.heappop(self._heap)
        else:
            heapq.heapreplace(self._heap, self._key(organisation))
