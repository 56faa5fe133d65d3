"""Reservations of a pass: room emptied for a task, room promised earlier, and room for the next tasks in the queue."""

from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace

import numpy as np

from scheduler.accounts import Accounts
from scheduler.allocator import Allocator
from scheduler.backlog import Backlog
from scheduler.catalogue import Entry
from scheduler.decisions import Cause, CauseCode, Wait
from scheduler.demand import least_members
from scheduler.explain import Pending
from scheduler.horizon import end_is_unknown
from scheduler.reservations import Reservation
from scheduler.roster import Roster
from scheduler.rules import Rules
from scheduler.shares import Bundle, GuaranteeFit, bundle_of_claims, bundle_of_request
from scheduler.timeline import Timeline
from scheduler.types import Task


class Bookings:
    """Makes the reservations. `promised`: by task, nodes that an earlier pass reserved, in order of the promises."""

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
        self.timeline = Timeline(
            cells=self.cells, now=now, roster=roster, takes_back=self._may_take_back, outranks=self._outranks
        )
        self._holds_left = rules.holds
        self._promised = promised
        self._counted_as_held: dict[str, Bundle] = {}

    @contextmanager
    def undone(self) -> Iterator[None]:
        """Leave no reservation of the block behind; what was charged for it is the caller's to undo."""
        holds_left, counted = self._holds_left, dict(self._counted_as_held)
        with self.timeline.undone():
            yield
        self._holds_left, self._counted_as_held = holds_left, counted

    def emptied_nodes(self, holds: Mapping[str, Sequence[str]]) -> dict[str, tuple[str, ...]]:
        """By task, the nodes that have been or are being emptied for it."""
        leaving = self._nodes_being_emptied()
        return {
            task_id: (*holds.get(task_id, ()), *sorted(leaving.get(task_id, ())))
            for task_id in sorted({*holds, *leaving})
            if self.backlog.entry(task_id) is not None
        }

    def _nodes_being_emptied(self) -> dict[str, set[str]]:
        """By task, the nodes with members that are leaving for it."""
        nodes: defaultdict[str, set[str]] = defaultdict(set)
        for member in self.roster.leaving():
            if member.leaving_for is not None:
                nodes[member.leaving_for].add(self.cells.nodes[member.claim.row].id)
        return nodes

    def reserve_emptied(self, first: Mapping[str, Sequence[str]]) -> None:
        """Reserve emptied nodes, so that nobody else starts there while the last victims leave."""
        for task_id, nodes in first.items():
            reservation = self._reserve_on(task_id, nodes)
            if reservation is not None and reservation.start_p50 <= self.now:
                self.timeline.add(replace(reservation, emptied=True))

    def restore_promises(self, first: Collection[str]) -> None:
        """Reserve where earlier passes did, so that a promise moves only when expected ends move.

        A guessed reservation binds again once its task has waited long enough to hold free room.
        """
        for task_id, nodes in list(self._promised.items())[: self.rules.reservations]:
            reservation = self._reserve_on(task_id, nodes) if task_id not in first else None
            if reservation is not None:
                guessed = reservation.guessed and not self._has_waited_long(reservation.task)
                self.timeline.add(replace(reservation, promised=True, guessed=guessed))

    def _count_as_held(self, reservation: Reservation) -> None:
        """Count a reservation as held in the order of turns, from its own turn on.

        Otherwise the organisation that holds least would get all reservations. A promise of an earlier pass counts only
        from its turn on: counted earlier, it would put its organisation behind those with smaller promises.
        """
        bundle = self._counted_as_held[reservation.task.id] = bundle_of_claims(self.cells, reservation.claims)
        self.accounts.charge_reserved(reservation.task, bundle)

    def release(self, task: Task) -> None:
        """Drop the task's reservation: it starts, or others are asked to make room for it."""
        self.timeline.drop(task.id)
        expected = self._counted_as_held.pop(task.id, None)
        if expected is not None:
            self.accounts.charge_reserved(task, expected, -1)

    def _reserve_on(self, task_id: str, nodes: Sequence[str]) -> Reservation | None:
        """Reserve on these nodes; None if the task can no longer start there, as they are gone, silent or closed."""
        entry = self.backlog.entry(task_id)
        if entry is None or entry.problem is not None:
            return None
        kind = self.allocator.column(entry.demand).kind
        rows = sorted({row for node in nodes if (row := self.cells.row_of.get(node)) is not None and kind.allowed[row]})
        return self.timeline.reserve(kind, entry.task, entry.least, rows) if rows else None

    def promise_count(self) -> int:
        return sum(self.backlog.entry(task_id) is not None for task_id in self._promised)

    def reserve(self, entry: Entry) -> Reservation | None:
        """Reserve the earliest start, for the first tasks in the queue that cannot start now.

        Up to `holds` tasks that have waited longer than `hold_after_s` also hold the room that is free there.
        """
        task, reservation = entry.task, self.timeline.reservation_of(entry.task.id)
        rows = self._rows_to_hold(entry) if self._may_hold(task) else ()
        if reservation is None and (len(rows) or len(self.timeline.reservations) < self.rules.reservations):
            kind = self.allocator.column(entry.demand).kind
            reservation = self.timeline.reserve(kind, task, entry.least, rows if len(rows) else None)
            if reservation is not None:
                self.timeline.add(reservation)
                self._count_as_held(reservation)
        elif reservation is not None and reservation.promised:
            reservation = self.timeline.confirm(reservation)
            self._count_as_held(reservation)
        if reservation is None or not len(rows):
            return reservation
        self._holds_left -= 1
        return self.timeline.hold(reservation)

    def _may_hold(self, task: Task) -> bool:
        return self._holds_left > 0 and self._has_waited_long(task)

    def _has_waited_long(self, task: Task) -> bool:
        return self.now - task.submitted_at > self.rules.hold_after_s

    def _rows_to_hold(self, entry: Entry) -> Sequence[int]:
        """The rows that it held before, if nobody else holds them by now; else all rows that nobody holds."""
        allowed = self.allocator.column(entry.demand).kind.allowed
        before = {self.cells.row_of.get(node, -1) for node in self._promised.get(entry.task.id, ())}
        if (
            before
            and -1 not in before
            and allowed[list(before)].all()
            and not self.timeline.held_rows[list(before)].any()
        ):
            return sorted(before)
        rows: list[int] = np.flatnonzero(allowed & ~self.timeline.held_rows).tolist()
        return rows

    def waits(self, pending: Sequence[Pending], started: Collection[str]) -> list[Wait]:
        """Waits with reservations only, including earlier ones of tasks that got no turn; causes are not computed."""
        nodes = {p.entry.task.id: self._nodes_of(p.reservation) for p in pending if p.reservation is not None}
        decided = {p.entry.task.id for p in pending} | set(started)
        for task_id, rows in self._promised.items():
            if task_id not in decided and self.backlog.entry(task_id) is not None:
                nodes[task_id] = tuple(rows)
        why = Cause(CauseCode.BEHIND_RESERVATION)
        return [
            Wait(task_id, why, (), at, reserved_nodes=reserved)
            for at, (task_id, reserved) in enumerate(nodes.items(), 1)
        ]

    def _nodes_of(self, reservation: Reservation) -> tuple[str, ...]:
        return tuple(self.cells.nodes[row].id for row in dict.fromkeys(claim.row for claim in reservation.claims))

    def _may_take_back(self, reserved: Task, other: Task) -> bool:
        """Whether the reserved task may pre-empt the other at its start: by priority, within one organisation."""
        return reserved.organisation == other.organisation and other.priority < reserved.priority

    def _outranks(self, other: Task, promised: Task) -> bool:
        """Whether the other task may break an earlier promise: by priority, guarantee, or equal share.

        By equal share only if the promised task's organisation already holds its own and nobody knows when the promise
        can be met: the card would lie idle indefinitely, kept from an organisation that is owed it for one that is not.
        """
        if other.organisation == promised.organisation:
            return other.priority > promised.priority
        claims = [self._guarantee_fit(task) for task in (other, promised)]
        if GuaranteeFit.INSIDE in claims:
            return claims[0] is GuaranteeFit.INSIDE and claims[1] is not GuaranteeFit.INSIDE
        shares = self.accounts.shares
        owed = shares.stays_within_equal_share(other.organisation, bundle_of_request(other, least_members(other)))
        return owed and shares.holds_equal_share(promised.organisation) and self._start_is_guessed(promised)

    def _start_is_guessed(self, promised: Task) -> bool:
        """Whether a member on the reserved rows has an unknown end: no estimate, or past its p90."""
        reservation = self.timeline.reservation_of(promised.id)
        rows = {claim.row for claim in reservation.claims} if reservation is not None else ()
        return any(end_is_unknown(member, self.now) for row in rows for member in self.timeline.members_on(row))

    def _guarantee_fit(self, task: Task) -> GuaranteeFit:
        return self.accounts.shares.guarantee_fit(task.organisation, bundle_of_request(task, least_members(task)))
