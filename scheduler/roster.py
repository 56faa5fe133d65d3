"""Who runs where: placed members by row and by task, kept between passes; what a pass changes is taken back."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from scheduler.cells import Cells, Claim
from scheduler.shares import taken_by
from scheduler.types import Task


@dataclass(frozen=True, slots=True)
class Member:
    """A placed member: what it holds, on which columns of its row, and for whom it is on its way out."""

    task: Task
    claim: Claim
    started_at: float
    bundle: Mapping[str, int]
    columns: tuple[int, ...]
    leaving_for: str | None = None
    gpu_milli: int = field(init=False)  # kept: a pass asks everybody that may give way

    def __post_init__(self) -> None:
        object.__setattr__(self, "gpu_milli", sum(piece.core_milli for piece in self.claim.slices))

    @property
    def leaving(self) -> bool:
        return self.leaving_for is not None


def member_of(cells: Cells, task: Task, claim: Claim, started_at: float, leaving_for: str | None = None) -> Member:
    known = cells.column_of[claim.row]
    columns = tuple(known[piece.device_id] for piece in claim.slices if piece.device_id in known)
    return Member(task, claim, started_at, taken_by(cells, claim), columns, leaving_for)


class Roster:
    """Members under three indexes. Nothing that reads it may depend on the order within a row or an organisation.

    Between `begin` and `rollback` every change is noted; `rollback` restores what was there.
    """

    def __init__(self) -> None:
        self.on_row: dict[int, list[Member]] = {}
        self.of_task: dict[str, list[Member]] = {}
        self.yielding: defaultdict[str, dict[str, None]] = defaultdict(dict)  # pre-emptible tasks by organisation
        self.firm: defaultdict[str, dict[str, None]] = defaultdict(dict)  # those that are not
        self._leaving: dict[str, None] = {}
        self._before: dict[str, Sequence[Member]] | None = None

    def __iter__(self) -> Iterator[Member]:
        for members in self.of_task.values():
            yield from members

    def add(self, member: Member) -> None:
        task = member.task
        self._note(task.id)
        self.of_task.setdefault(task.id, []).append(member)
        self.on_row.setdefault(member.claim.row, []).append(member)
        if member.leaving:
            self._leaving[task.id] = None
        elif task.preemptible:
            self.yielding[task.organisation][task.id] = None
        else:
            self.firm[task.organisation][task.id] = None

    def drop(self, task_id: str) -> Sequence[Member]:
        """All members of the task leave the roster. Unknown tasks have none."""
        members = self.of_task.get(task_id)
        if members is None:
            return ()
        self._note(task_id)
        del self.of_task[task_id]
        self._leaving.pop(task_id, None)
        self.yielding[members[0].task.organisation].pop(task_id, None)
        self.firm[members[0].task.organisation].pop(task_id, None)
        for row in {member.claim.row for member in members}:
            left = [member for member in self.on_row[row] if member.task.id != task_id]
            if left:
                self.on_row[row] = left
            else:
                del self.on_row[row]
        return members

    def leave(self, task_id: str, for_task_id: str) -> None:
        """The task has been asked to give way: its members stay until they are dropped."""
        for member in self.drop(task_id):
            self.add(replace(member, leaving_for=for_task_id))

    def leaving(self) -> Iterator[Member]:
        """Members that are on their way out."""
        for task_id in self._leaving:
            yield from self.of_task[task_id]

    def ran_before(self, task_id: str) -> bool:
        """Whether the task was here when the pass began, and has not been touched since."""
        return task_id in self.of_task and (self._before is None or task_id not in self._before)

    def _note(self, task_id: str) -> None:
        if self._before is not None and task_id not in self._before:
            self._before[task_id] = tuple(self.of_task.get(task_id, ()))

    def begin(self) -> None:
        self._before = {}

    def rollback(self) -> None:
        before, self._before = self._before or {}, None
        for task_id, members in before.items():
            self.drop(task_id)
            self._restore(members)

    def _restore(self, members: Iterable[Member]) -> None:
        for member in members:
            self.add(member)
