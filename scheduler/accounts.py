"""What everybody holds, kept between passes: shares of organisations, use below them, and hard limits."""

from collections.abc import Iterable, Mapping, Sequence

from scheduler.paths import Paths
from scheduler.quota import QuotaBook
from scheduler.roster import Member
from scheduler.shares import Bundle, Shares
from scheduler.types import Queue, Task

Bill = tuple[Task, Mapping[str, int], int, bool]


class Accounts:
    """Shares, paths and quota book under one set of queues. Whole numbers throughout, so that giving back is exact.

    Between `begin` and `rollback` every bill is noted; `rollback` takes them all back.
    """

    def __init__(self, total: Bundle) -> None:
        self.shares, self.paths, self.book = Shares(total), Paths(), QuotaBook()
        self._queues: Sequence[Queue] = ()
        self._bills: list[Bill] | None = None

    def govern(self, queues: Sequence[Queue], members: Iterable[Member]) -> bool:
        """Take these queues from now on. Only a change of the tree or of what is limited counts everything anew.

        True when the tree has changed.
        """
        if queues is self._queues:
            return False
        self._queues = queues
        self.shares.govern(queues)
        moved, limited = self.paths.govern(queues), self.book.govern(queues)
        if moved or limited:
            for member in members:
                if moved:
                    self.paths.charge(member.task, self.shares.parts(member.bundle))
                if limited:
                    self.book.charge(member.task, member.bundle)
        return moved

    def begin(self) -> None:
        self._bills = []

    def charge(self, task: Task, bundle: Mapping[str, int], sign: int = 1) -> None:
        """One member starts (or, with -1, ends)."""
        self._post((task, bundle, sign, True))

    def lend(self, task: Task, bundle: Mapping[str, int], sign: int = 1) -> None:
        """Count it for the organisation alone: room that is being cleared, or victims that have yet to go."""
        self._post((task, bundle, sign, False))

    def _post(self, bill: Bill) -> None:
        self._apply(*bill)
        if self._bills is not None:
            self._bills.append(bill)

    def _apply(self, task: Task, bundle: Mapping[str, int], sign: int, everywhere: bool) -> None:
        self.shares.add(task.organisation, bundle, sign)
        if everywhere:
            self.paths.charge(task, sign * self.shares.parts(bundle))
            self.book.charge(task, bundle, sign)

    def rollback(self) -> None:
        bills, self._bills = self._bills or [], None
        for task, bundle, sign, everywhere in reversed(bills):
            self._apply(task, bundle, -sign, everywhere)
