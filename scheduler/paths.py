"""Paths in the tree of departments and users below an organisation, and the use of each."""

from collections import defaultdict
from collections.abc import Sequence

from scheduler.types import Queue, QueueLevel, Task

Path = tuple[str, ...]


class Paths:
    """Paths of tasks in the tree below the organisation, with the weight and use of each part.

    Use is the sum of its members' dominant shares, in whole parts of the cluster (`Shares.parts`).
    """

    def __init__(self) -> None:
        self._parent: dict[tuple[str, str], str] = {}
        self._weight: dict[tuple[str, QueueLevel, str], float] = {}
        self._used: defaultdict[Path, int] = defaultdict(int)
        self._known: dict[tuple[str, str, str], Path] = {}

    def set_queues(self, queues: Sequence[Queue]) -> bool:
        """Use these weights and this tree; True if the tree has changed, so that use must be counted again."""
        self._weight = {(q.organisation, q.level, q.id): q.weight for q in queues if q.weight > 0}
        parent = {(q.organisation, q.id): q.parent for q in queues if q.level is QueueLevel.DEPARTMENT}
        if parent == self._parent:
            return False
        self._parent = parent
        self._used.clear()
        self._known.clear()
        return True

    def path(self, task: Task) -> Path:
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
        path = self.path(task)
        for depth in range(2, len(path) + 1):
            self._used[path[:depth]] += parts

    def standing(self, path: Path, leaf: bool) -> float:
        level = QueueLevel.USER if leaf else QueueLevel.DEPARTMENT
        return self._used[path] / self._weight.get((path[0], level, path[-1]), 1.0)
