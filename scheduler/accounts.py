"""Use that is kept between passes: shares of organisations, use in the tree below them, and use against quotas."""

from collections.abc import Iterable, Mapping, Sequence
from enum import Enum, auto

from scheduler.paths import Paths
from scheduler.quota import QuotaBook
from scheduler.roster import Member
from scheduler.shares import Bundle, Shares
from scheduler.types import Queue, Task


class BillKind(Enum):
    """The counts that a bill changes."""

    HELD = auto()  # the share, the tree below, quotas
    SHARE_ONLY = auto()  # the organisation's share alone
    RESERVED = auto()  # the order of turns only


Bill = tuple[Task, Mapping[str, int], int, BillKind]


class Accounts:
    """Shares, paths and quota book under one set of queues. Whole numbers throughout, so that refunds are exact.

    Every bill after `begin` is recorded; `rollback` reverses all of them. Both nest.
    """

    def __init__(self, total: Bundle) -> None:
        self.shares, self.paths, self.book = Shares(total), Paths(), QuotaBook()
        self._queues: Sequence[Queue] = ()
        self._bills: list[list[Bill]] = []  # of each `begin` that is open

    def set_queues(self, queues: Sequence[Queue], members: Iterable[Member]) -> bool:
        """Use these queues from now on. Everything is recounted only if the tree or the set of limits changes.

        Returns whether the tree has changed.
        """
        if queues is self._queues:
            return False
        self._queues = queues
        self.shares.set_queues(queues)
        moved, limited = self.paths.set_queues(queues), self.book.set_queues(queues)
        if moved or limited:
            for member in members:
                if moved:
                    self.paths.charge(member.task, self.shares.parts(member.bundle))
                if limited:
                    self.book.charge(member.task, member.bundle)
        return moved

    def begin(self) -> None:
        self._bills.append([])

    @property
    def bill_count(self) -> int:
        """The number of bills since the last `begin`."""
        return len(self._bills[-1]) if self._bills else 0

    def charge(self, task: Task, bundle: Mapping[str, int], sign: int = 1) -> None:
        """One member starts (or, with -1, ends)."""
        self._post((task, bundle, sign, BillKind.HELD))

    def charge_share_only(self, task: Task, bundle: Mapping[str, int], sign: int = 1) -> None:
        """Charge the organisation's share only: for room that is being emptied, or victims that have yet to leave."""
        self._post((task, bundle, sign, BillKind.SHARE_ONLY))

    def charge_reserved(self, task: Task, bundle: Mapping[str, int], sign: int = 1) -> None:
        """Count reserved room as held in the order of turns, so that no organisation gets all reservations."""
        self._post((task, bundle, sign, BillKind.RESERVED))

    def _post(self, bill: Bill) -> None:
        self._apply(*bill)
        if self._bills:
            self._bills[-1].append(bill)

    def _apply(self, task: Task, bundle: Mapping[str, int], sign: int, counts: BillKind) -> None:
        if counts is BillKind.RESERVED:
            self.shares.add_reserved(task.organisation, bundle, sign)
        else:
            self.shares.add(task.organisation, bundle, sign)
        if counts is not BillKind.SHARE_ONLY:
            self.paths.charge(task, sign * self.shares.parts(bundle))
        if counts is BillKind.HELD:
            self.book.charge(task, bundle, sign)

    def rollback(self) -> None:
        for task, bundle, sign, counts in reversed(self._bills.pop()):
            self._apply(task, bundle, -sign, counts)
