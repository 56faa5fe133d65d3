"""Facts about each task, computed once: request class, least size, requested bundle, and any problem with it."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from scheduler.decisions import Cause
from scheduler.demand import Demand, demand_of, least_members
from scheduler.shares import bundle_of_request
from scheduler.types import Task
from scheduler.validate import problem_with


@dataclass(frozen=True, slots=True)
class Entry:
    """The facts of one task. `key` is the same for tasks of one class and one least size."""

    task: Task
    demand: Demand
    key: int
    least: int
    asked: Mapping[str, int]
    problem: Cause | None


class Catalogue:
    """Entries by task id, cached for as long as the task is the same object."""

    def __init__(self) -> None:
        self._entries: dict[str, Entry] = {}
        self._keys: dict[tuple[Demand, int], int] = {}
        self._demands: dict[Demand, Demand] = {}

    def entry(self, task: Task) -> Entry:
        entry = self._entries.get(task.id)
        if entry is None or entry.task is not task:
            entry = self._entries[task.id] = self._make_entry(task)
        return entry

    def _make_entry(self, task: Task) -> Entry:
        problem = problem_with(task)
        demand = demand_of(task)
        demand = self._demands.setdefault(demand, demand)
        least = least_members(task)
        key = self._keys.setdefault((demand, least), len(self._keys))
        return Entry(task, demand, key, least, bundle_of_request(task, least), problem)

    def retain(self, keep: Iterable[str]) -> None:
        """Drop all but these tasks."""
        kept = set(keep)
        self._entries = {task_id: entry for task_id, entry in self._entries.items() if task_id in kept}
