"""Room that is kept in a pass: what was emptied for a task, what was promised before, what the next ones will need."""

from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace

import numpy as np

from scheduler.accounts import Accounts
from scheduler.allocator import Allocator
from scheduler.backlog import Backlog
from scheduler.catalogue import Entry
from scheduler.decisions import Cause, CauseCode, Wait
from scheduler.demand import least_members
from scheduler.explain import Pending
from scheduler.horizon import is_endless
from scheduler.reservations import Reservation
from scheduler.roster import Roster
from scheduler.rules import Rules
from scheduler.shares import Bundle, Claimed, asked_by, taken_by_all
from scheduler.timeline import Future
from scheduler.types import Task


class Bookings:
    """Who has room kept where. `promised`: by task, nodes that an earlier pass reserved, in order of the promises."""

    def __init__(
        self,
        allocator: Allocator,
        backlog: Backlog,
        roster: Roster,
        accounts: Accounts,
        now: float,
        rules: Rules,
        promised: Mapping[str, Sequence[str]],
    ) -> None:
        self.allocator, self.cells, self.now, self.rules = allocator, allocator.cells, now, rules
        self.backlog, self.roster, self.accounts = backlog, roster, accounts
        self.future = Future(self.cells, now, roster, self._takes_back, self._outranks)
        self._holds = rules.holds
        self._promised = promised
        self._expected: dict[str, Bundle] = {}

    def emptied(self, holds: Mapping[str, Sequence[str]]) -> dict[str, tuple[str, ...]]:
        """Tasks that room has been emptied for, or is being emptied, and where."""
        leaving = self._leaving_for()
        return {
            task_id: (*holds.get(task_id, ()), *sorted(leaving.get(task_id, ())))
            for task_id in sorted({*holds, *leaving})
            if self.backlog.entry(task_id) is not None
        }

    def _leaving_for(self) -> dict[str, set[str]]:
        """Nodes by the task that members on them are leaving for."""
        nodes: defaultdict[str, set[str]] = defaultdict(set)
        for member in self.roster.leaving():
            if member.leaving_for is not None:
                nodes[member.leaving_for].add(self.cells.nodes[member.claim.row].id)
        return nodes

    def keep_room(self, first: Mapping[str, Sequence[str]]) -> None:
        """Reserve what was emptied, so that nobody else starts there while the last victims leave."""
        for task_id, nodes in first.items():
            reservation = self._reserve_on(task_id, nodes)
            if reservation is not None and reservation.start_p50 <= self.now:
                self.future.add(replace(reservation, emptied=True))

    def keep_promises(self, first: Collection[str]) -> None:
        """Reserve again where earlier passes did, so that what was promised moves only when ends move.

        A guess binds again once its task has waited so long that it may hold what is free.
        """
        for task_id, nodes in list(self._promised.items())[: self.rules.reservations]:
            reservation = self._reserve_on(task_id, nodes) if task_id not in first else None
            if reservation is not None:
                guessed = reservation.guessed and not self._has_waited_long(reservation.task)
                self.future.add(replace(reservation, promised=True, guessed=guessed))

    def _expect(self, reservation: Reservation) -> None:
        """From its turn on a reservation counts as held where turns are dealt.

        Otherwise whoever holds least would get all reservations. An earlier pass's promise counts from its turn only:
        counted before, it would put its organisation behind those whose promises are smaller.
        """
        bundle = self._expected[reservation.task.id] = taken_by_all(self.cells, reservation.claims)
        self.accounts.expect(reservation.task, bundle)

    def release(self, task: Task) -> None:
        """Keep nothing any longer: it starts, or others are asked to make room for it."""
        self.future.drop(task.id)
        expected = self._expected.pop(task.id, None)
        if expected is not None:
            self.accounts.expect(task, expected, -1)

    def _reserve_on(self, task_id: str, nodes: Sequence[str]) -> Reservation | None:
        """None where it can start there no more: a machine that is gone, silent or closed keeps room for nobody."""
        entry = self.backlog.entry(task_id)
        if entry is None or entry.problem is not None:
            return None
        kind = self.allocator.column(entry.demand).kind
        rows = sorted({row for node in nodes if (row := self.cells.row_of.get(node)) is not None and kind.allowed[row]})
        return self.future.reserve(kind, entry.task, entry.least, rows) if rows else None

    def still_promised(self) -> int:
        return sum(self.backlog.entry(task_id) is not None for task_id in self._promised)

    def reserve(self, entry: Entry) -> Reservation | None:
        """The earliest start, kept for the first tasks in the queue that cannot start now.

        Those that have waited past `hold_after_s` hold what is free there; up to `holds` of them.
        """
        task, kept = entry.task, self.future.kept_for(entry.task.id)
        rows = self._rows_to_hold(entry) if self._may_hold(task) else ()
        if kept is None and (len(rows) or len(self.future.reservations) < self.rules.reservations):
            kind = self.allocator.column(entry.demand).kind
            kept = self.future.reserve(kind, task, entry.least, rows if len(rows) else None)
            if kept is not None:
                self.future.add(kept)
                self._expect(kept)
        elif kept is not None and kept.promised:
            kept = self.future.confirm(kept)
            self._expect(kept)
        if kept is None or not len(rows):
            return kept
        self._holds -= 1
        return self.future.hold(kept)

    def _may_hold(self, task: Task) -> bool:
        return self._holds > 0 and self._has_waited_long(task)

    def _has_waited_long(self, task: Task) -> bool:
        return self.now - task.submitted_at > self.rules.hold_after_s

    def _rows_to_hold(self, entry: Entry) -> Sequence[int]:
        """Where it held before, if nobody else holds there by now; else all rows on which nobody holds."""
        allowed = self.allocator.column(entry.demand).kind.allowed
        before = {self.cells.row_of.get(node, -1) for node in self._promised.get(entry.task.id, ())}
        if before and -1 not in before and allowed[list(before)].all() and not self.future.held[list(before)].any():
            return sorted(before)
        rows: list[int] = np.flatnonzero(allowed & ~self.future.held).tolist()
        return rows

    def waits(self, pending: Sequence[Pending], started: Collection[str]) -> list[Wait]:
        """Reservations only, old ones of tasks that did not get a turn included; causes are not worked out."""
        nodes = {p.entry.task.id: self._nodes_of(p.reservation) for p in pending if p.reservation is not None}
        decided = {p.entry.task.id for p in pending} | set(started)
        for task_id, rows in self._promised.items():
            if task_id not in decided and self.backlog.entry(task_id) is not None:
                nodes[task_id] = tuple(rows)
        why = Cause(CauseCode.BEHIND_RESERVATION)
        return [Wait(task_id, why, (), at, reserved_nodes=kept) for at, (task_id, kept) in enumerate(nodes.items(), 1)]

    def _nodes_of(self, kept: Reservation) -> tuple[str, ...]:
        return tuple(self.cells.nodes[row].id for row in dict.fromkeys(claim.row for claim in kept.claims))

    def _takes_back(self, reserved: Task, other: Task) -> bool:
        """Whether the reserved task may end the other one when its time comes: by priority, in one organisation."""
        return reserved.organisation == other.organisation and other.priority < reserved.priority

    def _outranks(self, other: Task, promised: Task) -> bool:
        """Whether the other task may break an earlier promise: by priority, as part of its guarantee, or of its share.

        The last where the promised one's organisation has its own share and nobody knows when the promise can be met:
        a card would lie idle without an end, kept from one that is owed it for the sake of one that is not.
        """
        if other.organisation == promised.organisation:
            return other.priority > promised.priority
        claims = [self._claimed(task) for task in (other, promised)]
        if Claimed.INSIDE in claims:
            return claims[0] is Claimed.INSIDE and claims[1] is not Claimed.INSIDE
        shares = self.accounts.shares
        owed = shares.is_owed(other.organisation, asked_by(other, least_members(other)))
        return owed and shares.has_its_share(promised.organisation) and self._guessed(promised)

    def _guessed(self, promised: Task) -> bool:
        """Whether nobody knows when those end who are where it is to start: no estimate, or past their p90."""
        kept = self.future.kept_for(promised.id)
        rows = {claim.row for claim in kept.claims} if kept is not None else ()
        return any(is_endless(member, self.now) for row in rows for member in self.future.members_on(row))

    def _claimed(self, task: Task) -> Claimed:
        return self.accounts.shares.claim_on_promise(task.organisation, asked_by(task, least_members(task)))
