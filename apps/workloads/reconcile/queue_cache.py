"""The queue as cached between passes: the spec of a waiting workload is read once, not in every pass."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import scheduler
from apps.clusters.rights import Entitlements, entitlements
from apps.workloads.choices import Status
from apps.workloads.models import Workload
from apps.workloads.queueing.tasks_of import entitled_task, task_of
from apps.workloads.reconcile import row_digests
from apps.workloads.reconcile.history import Lesson, estimated

CHUNK = 2000
NEEDED = (
    *("id", "organisation_id", "owner_id", "spec", "queued_at", "priority", "attempt_number", "department_id"),
    *("expected_s", "longest_s", "fault", "replica_set_id"),
)


@dataclass(slots=True)
class CachedTask:
    """A waiting workload as it was at digest `mark`. `task` stays the same object while nothing changes.

    `attempts`: how many attempts it has had. `lesson`: the history that its estimates come from.
    """

    mark: str
    task: scheduler.Task
    simulated: bool
    attempts: int
    lesson: Lesson | None = None


class QueueCache:
    """The queue of both worlds, in order of submission."""

    def __init__(self) -> None:
        self._known: dict[str, CachedTask] = {}
        self._min_runtime_s = 0.0
        self._rights: Entitlements = {}

    def read(self, min_runtime_s: float) -> None:
        """Bring the cache up to date with the rows."""
        known = self._known if min_runtime_s == self._min_runtime_s else {}
        seen = row_digests.waiting_digests()
        strange = {task for task, mark in seen.items() if task not in known or known[task].mark != mark}
        fresh = dict(_read(sorted(strange), seen, min_runtime_s))
        # A task that left the queue between the two queries is in neither.
        self._known = {
            task: fresh[task] if task in fresh else known[task] for task in seen if task in fresh or task not in strange
        }
        self._min_runtime_s = min_runtime_s
        self._rights = entitlements()

    def __len__(self) -> int:
        return len(self._known)

    def ids(self) -> set[str]:
        return set(self._known)

    def of(self, task_id: str) -> CachedTask:
        return self._known[task_id]

    def worlds(self) -> list[bool]:
        """The worlds (real: False, simulated: True) that have waiting tasks."""
        return sorted({waiting.simulated for waiting in self._known.values()})

    def waiting(self, lesson: Lesson, *, simulated: bool) -> tuple[scheduler.Task, ...]:
        """The waiting tasks of one world, with duration estimates from `lesson`."""
        here = [waiting for waiting in self._known.values() if waiting.simulated == simulated]
        for waiting in here:
            if waiting.lesson is not lesson:
                waiting.task, waiting.lesson = estimated(waiting.task, lesson), lesson
            waiting.task = entitled_task(waiting.task, self._rights)
        return tuple(waiting.task for waiting in here)


def _read(ids: Sequence[str], seen: row_digests.Marks, min_runtime_s: float) -> Iterator[tuple[str, CachedTask]]:
    """Read these rows. A row that changes meanwhile keeps its older digest, so the next pass reads it again."""
    for start in range(0, len(ids), CHUNK):
        here = Workload.objects.filter(pk__in=ids[start : start + CHUNK], status=Status.QUEUED)
        for workload in here.only(*NEEDED):
            task = task_of(workload, min_runtime_s)
            yield task.id, CachedTask(seen[task.id], task, workload.simulated, workload.attempt_number)
