"""What waits, kept between passes: a workload's spec is read once, however often the queue is looked at."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

import scheduler
from apps.workloads.choices import Status
from apps.workloads.models import Workload
from apps.workloads.reconcile.history import Lesson, estimated
from apps.workloads.reconcile.tasks_of import task_of

CHUNK = 2000
# All that may change of what waits, as far as the scheduler cares; the spec is frozen.
COLUMNS = ("queued_at", "priority", "attempt_number", "department_id")
NEEDED = ("id", "organisation_id", "owner_id", "spec", *COLUMNS)

Key = tuple[datetime, int, int, UUID | None]


@dataclass(slots=True)
class Waiting:
    """One that waits. The same `task` object is handed on for as long as nothing about it changes."""

    key: Key
    task: scheduler.Task
    simulated: bool

    @property
    def attempts(self) -> int:
        """How often it has been tried already."""
        return self.key[2]


class Line:
    """The queue of both worlds, in order of submission."""

    def __init__(self) -> None:
        self._known: dict[UUID, Waiting] = {}
        self._min_runtime_s = 0.0

    def read(self, min_runtime_s: float) -> None:
        """Look who waits now."""
        known = self._known if min_runtime_s == self._min_runtime_s else {}
        rows = Workload.objects.filter(status=Status.QUEUED).order_by("queued_at", "pk")
        keys: dict[UUID, Key] = {row[0]: row[1:] for row in rows.values_list("pk", *COLUMNS)}
        strange = [pk for pk, key in keys.items() if pk not in known or known[pk].key != key]
        fresh = dict(_read(strange, min_runtime_s))
        # One that left the queue between the two queries is in neither.
        self._known = {pk: fresh.get(pk) or known[pk] for pk in keys if pk in fresh or known.get(pk)}
        self._min_runtime_s = min_runtime_s

    def __len__(self) -> int:
        return len(self._known)

    def ids(self) -> set[str]:
        return {waiting.task.id for waiting in self._known.values()}

    def of(self, task_id: str) -> Waiting:
        return self._known[UUID(task_id)]

    def worlds(self) -> list[bool]:
        """The worlds, real and simulated, that anything waits for."""
        return sorted({waiting.simulated for waiting in self._known.values()})

    def waiting(self, lesson: Lesson, *, simulated: bool) -> tuple[scheduler.Task, ...]:
        """The tasks of one world, with what is known today about how long such tasks take."""
        here = [waiting for waiting in self._known.values() if waiting.simulated == simulated]
        for waiting in here:
            waiting.task = estimated(waiting.task, lesson)
        return tuple(waiting.task for waiting in here)


def _read(ids: Sequence[UUID], min_runtime_s: float) -> Iterator[tuple[UUID, Waiting]]:
    for start in range(0, len(ids), CHUNK):
        here = Workload.objects.filter(pk__in=ids[start : start + CHUNK], status=Status.QUEUED)
        for workload in here.only(*NEEDED):
            key = tuple(getattr(workload, column) for column in COLUMNS)
            yield workload.pk, Waiting(key, task_of(workload, min_runtime_s), workload.simulated)
