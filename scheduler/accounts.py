"""What everybody holds, kept between passes: shares of organisations, use below them, and hard limits."""

from collections.abc import Iterable, Mapping, Sequence
from enum import Enum, auto

from scheduler.paths import Paths
from scheduler.quota import QuotaBook
from scheduler.roster import Member
from scheduler.shares import Bundle, Shares
from scheduler.types import Queue, Task


class Counts(Enum):
    """What a bill counts for."""

    HELD = auto()  # shares, the tree below, limits
    LENT = auto()  # the organisation's share alone
    COMING = auto()  # turns alone


Bill = tuple[Task, Mapping[str, int], int, Counts]


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

    @property
    def posted(self) -> int:
        """How many bills there have been since `begin`."""
        return len(self._bills or ())

    def charge(self, task: Task, bundle: Mapping[str, int], sign: int = 1) -> None:
        """One member starts (or, with -1, ends)."""
        self._post((task, bundle, sign, Counts.HELD))

    def lend(self, task: Task, bundle: Mapping[str, int], sign: int = 1) -> None:
        """Count it for the organisation alone: room that is being cleared, or victims that have yet to go."""
        self._post((task, bundle, sign, Counts.LENT))

    def expect(self, task: Task, bundle: Mapping[str, int], sign: int = 1) -> None:
        """Count what is reserved for it as held where turns are dealt, so that nobody gets all reservations."""
        self._post((task, bundle, sign, Counts.COMING))

    def _post(self, bill: Bill) -> None:
        self._apply(*bill)
        if self._bills is not None:
            self._bills.append(bill)

    def _apply(self, task: Task, bundle: Mapping[str, int], sign: int, counts: Counts) -> None:
        if counts is Counts.COMING:
            self.shares.expect(task.organisation, bundle, sign)
        else:
            self.shares.add(task.organisation, bundle, sign)
        if counts is not Counts.LENT:
            self.paths.charge(task, sign * self.shares.parts(bundle))
        if counts is Counts.HELD:
            self.book.charge(task, bundle, sign)

    def rollback(self) -> None:
        bills, self._bills = self._bills or [], None
        for task, bundle, sign, counts in reversed(bills):
            self._apply(task, bundle, -sign, counts)
