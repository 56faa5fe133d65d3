"""Places in the tree below an organisation, and how much each of them uses."""

from collections import defaultdict
from collections.abc import Sequence

from scheduler.types import Queue, QueueLevel, Task

Path = tuple[str, ...]


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
