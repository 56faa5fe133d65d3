"""Placed members by row and by task, kept between passes; the changes of a pass are rolled back."""

from collections import Counter, defaultdict
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, TypeVar, cast

from scheduler.cells import Cells, Claim
from scheduler.shares import bundle_of_claim
from scheduler.types import Task

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Member:
    """A placed member: its claim, the columns of its cards on the row, and the task it is leaving for, if any."""

    task: Task
    claim: Claim
    started_at: float
    bundle: Mapping[str, int]
    columns: tuple[int, ...]
    leaving_for: str | None = None
    gpu_milli: int = field(init=False)  # computed once: each pass reads it of every possible victim

    def __post_init__(self) -> None:
        object.__setattr__(self, "gpu_milli", sum(piece.core_milli for piece in self.claim.slices))

    @property
    def leaving(self) -> bool:
        return self.leaving_for is not None


def member_of(cells: Cells, task: Task, claim: Claim, started_at: float, leaving_for: str | None = None) -> Member:
    known = cells.column_of[claim.row]
    columns = tuple(known[piece.device_id] for piece in claim.slices if piece.device_id in known)
    return Member(task, claim, started_at, bundle_of_claim(cells, claim), columns, leaving_for)


class Roster:
    """Members under four indexes. No reader may depend on the order within a row or an organisation.

    Every change after `begin` is recorded; `rollback` restores the earlier state. Both nest.
    """

    def __init__(self) -> None:
        self.on_row: dict[int, list[Member]] = {}
        self.of_task: dict[str, list[Member]] = {}
        self.preemptible: defaultdict[str, dict[str, None]] = defaultdict(dict)  # pre-emptible tasks by organisation
        self.non_preemptible: defaultdict[str, dict[str, None]] = defaultdict(dict)  # the others by organisation
        self.spread: defaultdict[str, Counter[int]] = defaultdict(Counter)  # members by `Task.spread` and row
        self._leaving: dict[str, None] = {}
        # Of each `begin` that is open, what was there before it; the innermost last.
        self._before: list[dict[str, Sequence[Member]]] = []
        self._changes = 0
        self._kept: dict[str, tuple[Hashable, Any]] = {}

    def __iter__(self) -> Iterator[Member]:
        for members in self.of_task.values():
            yield from members

    def add(self, member: Member) -> None:
        task = member.task
        self._remember(task.id)
        self.of_task.setdefault(task.id, []).append(member)
        self.on_row.setdefault(member.claim.row, []).append(member)
        if task.spread is not None:
            self.spread[task.spread][member.claim.row] += 1
        if member.leaving:
            self._leaving[task.id] = None
        elif task.preemptible:
            self.preemptible[task.organisation][task.id] = None
        else:
            self.non_preemptible[task.organisation][task.id] = None

    def drop(self, task_id: str) -> Sequence[Member]:
        """Remove and return all members of the task; nothing for an unknown task."""
        members = self.of_task.get(task_id)
        if members is None:
            return ()
        self._remember(task_id)
        del self.of_task[task_id]
        self._leaving.pop(task_id, None)
        self.preemptible[members[0].task.organisation].pop(task_id, None)
        self.non_preemptible[members[0].task.organisation].pop(task_id, None)
        self._forget_spread(members)
        for row in {member.claim.row for member in members}:
            left = [member for member in self.on_row[row] if member.task.id != task_id]
            if left:
                self.on_row[row] = left
            else:
                del self.on_row[row]
        return members

    def _forget_spread(self, members: Iterable[Member]) -> None:
        for member in members:
            name = member.task.spread
            if name is not None:
                self.spread[name] -= Counter((member.claim.row,))  # which drops rows without any
                if not self.spread[name]:
                    del self.spread[name]

    def mark_leaving(self, task_id: str, for_task_id: str) -> None:
        """Mark the members of a task that has been asked to give way; they stay until they are dropped."""
        for member in self.drop(task_id):
            self.add(replace(member, leaving_for=for_task_id))

    def leaving(self) -> Iterator[Member]:
        """Members that have been asked to leave."""
        for task_id in self._leaving:
            yield from self.of_task[task_id]

    def ran_before(self, task_id: str) -> bool:
        """Whether the task ran when the pass began and has not changed since."""
        return task_id in self.of_task and not any(task_id in changed for changed in self._before)

    def kept(self, name: str, of: Hashable, make: Callable[[], T]) -> T:
        """What `make` computes from who ran when the pass began and `of`: kept until somebody starts, ends or leaves.

        Several plans of one moment, as for a form of many packages, share it.
        """
        known, key = self._kept.get(name), (self._changes, of)
        if known is None or known[0] != key:
            known = self._kept[name] = (key, make())
        return cast(T, known[1])

    @property
    def is_untouched(self) -> bool:
        """Whether everybody runs who ran when the pass began, and nobody else."""
        return not any(self._before)

    def changed(self) -> None:
        """Something of who runs has changed for good, outside of a pass."""
        self._changes += 1

    def _remember(self, task_id: str) -> None:
        if not self._before:
            self.changed()
        elif task_id not in self._before[-1]:
            self._before[-1][task_id] = tuple(self.of_task.get(task_id, ()))

    def begin(self) -> None:
        self._before.append({})

    def rollback(self) -> None:
        """Restore what was there at the last `begin`, which ends."""
        before, outer, self._before = self._before.pop(), self._before, []
        changes = self._changes
        for task_id, members in before.items():
            self.drop(task_id)
            self._restore(members)
        self._changes, self._before = changes, outer  # all is as it was, and that is no change

    def _restore(self, members: Iterable[Member]) -> None:
        for member in members:
            self.add(member)
