"""The queue between passes: waiting tasks, sorted once by organisation, level and path in the tree below."""

from bisect import bisect_left, insort
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from scheduler.catalogue import Catalogue, Entry
from scheduler.horizon import UNKNOWN_P50_S
from scheduler.paths import Path, Paths
from scheduler.types import Task

Level = tuple[int, bool]


@dataclass(frozen=True, slots=True, order=True)
class QueuedTask:
    """A waiting task, ordered by arrival plus patience times the expected run; ties go to the lower id.

    So a later task goes first only if `patience` times the run time that it is shorter exceeds how much later it came.
    """

    effective_arrival: float
    task_id: str
    entry: Entry = field(compare=False)


@dataclass(slots=True)
class OrganisationQueue:
    """The waiting tasks of one organisation, by level and then by path, and all arrivals in order."""

    levels: dict[Level, dict[Path, list[QueuedTask]]] = field(default_factory=dict)
    arrivals: list[tuple[float, str]] = field(default_factory=list)


class Backlog:
    """Waiting tasks, updated incrementally: a pass pays only for the tasks that came and went."""

    def __init__(self, catalogue: Catalogue, paths: Paths) -> None:
        self._catalogue, self._paths = catalogue, paths
        self._patience = 0.0
        self.clear()

    def clear(self) -> None:
        """Drop all tasks; the next `sync` sorts them again."""
        self._queued: dict[str, QueuedTask] = {}
        self.queues: dict[str, OrganisationQueue] = {}
        self.classes: Counter[int] = Counter()  # waiting tasks by Entry.key
        self._sample: dict[int, Entry] = {}
        self.preemptible = 0

    def __len__(self) -> int:
        return len(self._queued)

    def entry(self, task_id: str) -> Entry | None:
        queued = self._queued.get(task_id)
        return queued.entry if queued is not None else None

    def samples(self) -> Iterable[Entry]:
        """One entry of each class with waiting tasks."""
        return (self._sample[key] for key in self.classes)

    def sync(self, waiting: Sequence[Task], patience: float) -> None:
        """Hold exactly these tasks. A task that is the same object as before is skipped."""
        if patience != self._patience:
            self.clear()
            self._patience = patience
        queued_tasks = self._queued
        for task in waiting:
            queued = queued_tasks.get(task.id)
            if queued is None:
                self._add(task)
            elif queued.entry.task is not task:
                self._remove(task.id)
                self._add(task)
        if len(queued_tasks) != len(waiting):
            for task_id in queued_tasks.keys() - {task.id for task in waiting}:
                self._remove(task_id)

    def _add(self, task: Task) -> None:
        entry = self._catalogue.entry(task)
        expected = task.estimate_p50_s if task.estimate_p50_s is not None else UNKNOWN_P50_S
        queued = self._queued[task.id] = QueuedTask(task.submitted_at + self._patience * expected, task.id, entry)
        queue = self.queues.setdefault(task.organisation, OrganisationQueue())
        insort(queue.levels.setdefault(_level(task), {}).setdefault(self._paths.path(task), []), queued)
        insort(queue.arrivals, (task.submitted_at, task.id))
        self.classes[entry.key] += 1
        self._sample[entry.key] = entry
        self.preemptible += task.preemptible

    def _remove(self, task_id: str) -> None:
        queued = self._queued.pop(task_id)
        task, queue = queued.entry.task, self.queues[queued.entry.task.organisation]
        line = queue.levels[_level(task)][self._paths.path(task)]
        del line[bisect_left(line, queued)]
        del queue.arrivals[bisect_left(queue.arrivals, (task.submitted_at, task.id))]
        if not line:
            self._drop_if_empty(queue, task)
        self.classes[queued.entry.key] -= 1
        if not self.classes[queued.entry.key]:
            del self.classes[queued.entry.key]
        self.preemptible -= task.preemptible

    def _drop_if_empty(self, queue: OrganisationQueue, task: Task) -> None:
        """Drop the path, level and organisation of a removed task if nothing is left in them."""
        paths = queue.levels[_level(task)]
        del paths[self._paths.path(task)]
        if not paths:
            del queue.levels[_level(task)]
        if not queue.arrivals:
            del self.queues[task.organisation]


def _level(task: Task) -> Level:
    """Lower goes first: by priority, and requeued tasks before others of the same priority."""
    return -task.priority, not task.requeued
