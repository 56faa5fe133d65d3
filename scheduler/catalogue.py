"""What a pass needs to know of each task, worked out once: its request class, its size, what it adds, what is wrong."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from scheduler.decisions import Cause
from scheduler.demand import Demand, demand_of, least_members
from scheduler.shares import asked_by
from scheduler.types import Task
from scheduler.validate import problem_with


@dataclass(frozen=True, slots=True)
class Entry:
    """`key` is the same for tasks of one class and one least size."""

    task: Task
    demand: Demand
    key: int
    least: int
    asked: Mapping[str, int]
    problem: Cause | None


class Catalogue:
    """Entries by task id. A task that comes again as the same object is not looked at twice."""

    def __init__(self) -> None:
        self._entries: dict[str, Entry] = {}
        self._keys: dict[tuple[Demand, int], int] = {}
        self._demands: dict[Demand, Demand] = {}

    def of(self, task: Task) -> Entry:
        entry = self._entries.get(task.id)
        if entry is None or entry.task is not task:
            entry = self._entries[task.id] = self._enter(task)
        return entry

    def _enter(self, task: Task) -> Entry:
        problem = problem_with(task)
        demand = demand_of(task)
        demand = self._demands.setdefault(demand, demand)
        least = least_members(task)
        key = self._keys.setdefault((demand, least), len(self._keys))
        return Entry(task, demand, key, least, asked_by(task, least), problem)

    def forget(self, keep: Iterable[str]) -> None:
        """Drop all but these tasks."""
        kept = set(keep)
        self._entries = {task_id: entry for task_id, entry in self._entries.items() if task_id in kept}
