"""What waits, kept between passes: a workload's spec is read once, however often the queue is looked at."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import scheduler
from apps.workloads.choices import Status
from apps.workloads.models import Workload
from apps.workloads.queueing.tasks_of import task_of
from apps.workloads.reconcile import row_digests
from apps.workloads.reconcile.history import Lesson, estimated

CHUNK = 2000
NEEDED = ("id", "organisation_id", "owner_id", "spec", "queued_at", "priority", "attempt_number", "department_id")


@dataclass(slots=True)
class Waiting:
    """One that waits, as it was when it had this mark. The same `task` is handed on for as long as nothing changes.

    `attempts`: how often it has been tried already. `lesson`: what its estimates are from.
    """

    mark: str
    task: scheduler.Task
    simulated: bool
    attempts: int
    lesson: Lesson | None = None


class Line:
    """The queue of both worlds, in order of submission."""

    def __init__(self) -> None:
        self._known: dict[str, Waiting] = {}
        self._min_runtime_s = 0.0

    def read(self, min_runtime_s: float) -> None:
        """Look who waits now."""
        known = self._known if min_runtime_s == self._min_runtime_s else {}
        seen = row_digests.waiting()
        strange = {task for task, mark in seen.items() if task not in known or known[task].mark != mark}
        fresh = dict(_read(sorted(strange), seen, min_runtime_s))
        # One that left the queue between the two queries is in neither.
        self._known = {
            task: fresh[task] if task in fresh else known[task] for task in seen if task in fresh or task not in strange
        }
        self._min_runtime_s = min_runtime_s

    def __len__(self) -> int:
        return len(self._known)

    def ids(self) -> set[str]:
        return set(self._known)

    def of(self, task_id: str) -> Waiting:
        return self._known[task_id]

    def worlds(self) -> list[bool]:
        """The worlds, real and simulated, that anything waits for."""
        return sorted({waiting.simulated for waiting in self._known.values()})

    def waiting(self, lesson: Lesson, *, simulated: bool) -> tuple[scheduler.Task, ...]:
        """The tasks of one world, with what is known today about how long such tasks take."""
        here = [waiting for waiting in self._known.values() if waiting.simulated == simulated]
        for waiting in here:
            if waiting.lesson is not lesson:
                waiting.task, waiting.lesson = estimated(waiting.task, lesson), lesson
        return tuple(waiting.task for waiting in here)


def _read(ids: Sequence[str], seen: row_digests.Marks, min_runtime_s: float) -> Iterator[tuple[str, Waiting]]:
    """One that changes meanwhile keeps the older mark, so the next pass reads it once more."""
    for start in range(0, len(ids), CHUNK):
        here = Workload.objects.filter(pk__in=ids[start : start + CHUNK], status=Status.QUEUED)
        for workload in here.only(*NEEDED):
            task = task_of(workload, min_runtime_s)
            yield task.id, Waiting(seen[task.id], task, workload.simulated, workload.attempt_number)
