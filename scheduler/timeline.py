"""Expected ends, and the earliest start of a task that is blocked now: reservations over the nodes' future.

EASY backfill (Lifka, 1995) with up to `Rules.reservations` reservations. Ends come from p50 and p90 estimates. A lower
task may use a reserved node only if it has ended (p90) by the reserved start (p50), or the reserved task still fits
beside it, or the reserved task may pre-empt it. A guessed start binds nobody: otherwise room would lie idle for as long
as a task without an estimate runs. A task that starves because of this holds its room after `hold_after_s`.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

import numpy as np

from scheduler.cells import Claim, Floats, Ints
from scheduler.columns import RequestClass
from scheduler.demand import Demand, demand_of, serves, takes_as_much
from scheduler.horizon import Bounds, bounds_of, end_is_unknown, is_overdue, longest_run_s, member_ends
from scheduler.host import Host, host_of
from scheduler.reservations import Reservation, ReservationBook, add_while_fits, giving_back, taking
from scheduler.roster import Member, Roster
from scheduler.types import Task

MOST_ROWS = 64


@dataclass(kw_only=True)
class Timeline(ReservationBook):
    """The expected ends of members, and the reservations made so far in this pass."""

    now: float
    roster: Roster
    takes_back: Callable[[Task, Task], bool]
    outranks: Callable[[Task, Task], bool]
    _bounds: Bounds | None = None

    @contextmanager
    def undone(self) -> Iterator[None]:
        """Leave no reservation of the block behind; what it changes in the roster is the caller's to undo."""
        bounds = self._bounds
        self._bounds = bounds.copied() if bounds is not None else None
        with super().undone():
            yield
        self._bounds = bounds

    def members_on(self, row: int) -> Sequence[Member]:
        return self.roster.on_row.get(row, ())

    def member_ends(self, member: Member) -> tuple[float, float]:
        """(p50, p90) end of a member."""
        return member_ends(member, self.now)

    def mark_leaving(self, task_id: str, for_task: str) -> None:
        """Mark a task that has been asked to leave; from now on its members count as gone."""
        self.roster.mark_leaving(task_id, for_task)
        self._bounds = None

    def add_member(self, member: Member) -> None:
        """Add a member that was placed in this pass."""
        self.roster.add(member)
        if self._bounds is not None:
            self._bounds.add([member])

    def reserve(
        self, kind: RequestClass, task: Task, least: int, only: Sequence[int] | None = None
    ) -> Reservation | None:
        """The earliest start of `least` members under p50 ends, on rows of one domain; None if no end makes room."""
        best: tuple[float, list[tuple[float, Claim]]] | None = None
        for rows in self._domains(kind, least) if only is None else [np.array(only, np.int64)]:
            found = self._earliest(kind, rows, least, math.inf if best is None else best[0])
            if found and (best is None or found[-1][0] < best[0]):
                best = found[-1][0], found
        if best is None:
            return None
        start, claims = best[0], tuple(claim for _, claim in best[1])
        start_p90, end = self._start_p90(kind.demand, claims, start), start + longest_run_s(task)
        guessed, estimated = self._rests_on(claims, start)
        return Reservation(task, claims, start, start_p90, end, guessed=guessed, estimated=estimated)

    def _rests_on(self, claims: Sequence[Claim], start: float) -> tuple[bool, bool]:
        """Whether an end that this start waits for is unknown, and whether all of them are at least estimated."""
        if start <= self.now:
            return False, False  # nothing that ends is waited for
        rows = {claim.row for claim in claims}
        leaving = [member for row in rows for member in self.members_on(row) if self.member_ends(member)[0] <= start]
        ending = [reservation for row in rows for reservation in self.on_row(row) if reservation.end <= start]
        guessed = any(end_is_unknown(member, self.now) for member in leaving) or any(r.guessed for r in ending)
        return guessed, not any(is_overdue(member, self.now) for member in leaving) and all(r.estimated for r in ending)

    def _domains(self, kind: RequestClass, least: int) -> list[Ints]:
        rows: Ints = np.flatnonzero(kind.allowed)
        if least == 1:
            return [rows]
        rows = rows[np.argsort(self._earliest_per_row(kind, rows), kind="stable")]
        if kind.demand.one_node:
            return list(rows.reshape(-1, 1))
        groups, widest = defaultdict[int, list[int]](list), self.cells.domains_for(kind.demand).widest
        for row, domain in zip(rows.tolist(), widest[rows].tolist(), strict=True):
            groups[domain].append(row)
        return [np.array(group) for group in groups.values()]

    def _earliest_per_row(self, kind: RequestClass, rows: Ints) -> Floats:
        """[k]: a time before which no member can fit on the row."""
        if self._bounds is None:
            self._bounds = bounds_of(self.cells, self.roster, self.now)
        return self._bounds.earliest(kind, rows)

    def _earliest(self, kind: RequestClass, rows: Ints, least: int, before: float) -> list[tuple[float, Claim]]:
        """The earliest start on these rows; empty if it cannot be before `before`."""
        bound = self._earliest_per_row(kind, rows)
        found: list[tuple[float, Claim]] = []
        for index in np.argsort(bound, kind="stable")[: max(MOST_ROWS, 4 * least)]:
            latest = found[least - 1][0] if len(found) >= least else before
            if math.isinf(bound[index]) or bound[index] >= latest:
                break
            found += self._member_starts(int(rows[index]), kind.demand, least, float(bound[index]))
            found.sort(key=lambda pair: (pair[0], pair[1].row))
        return found[:least] if len(found) >= least else []

    def _member_starts(self, row: int, demand: Demand, most: int, bound: float) -> list[tuple[float, Claim]]:
        """When the first, second, ... member would fit on the row, after the existing reservations.

        No member fits before `bound`, so no earlier time is tried.
        """
        host, found = host_of(self.cells, row), list[tuple[float, Claim]]()
        floor = max([bound, self.now, *(r.start_p50 for r in self.on_row(row))])
        for at, change in self._events(row):
            if at > floor:
                add_while_fits(host, demand, most, floor, found)
            if len(found) >= most:
                break
            change(host)
            floor = max(floor, at)
        add_while_fits(host, demand, most, floor, found)
        return found

    def _events(self, row: int, p90: bool = False) -> list[tuple[float, Callable[[Host], None]]]:
        """Ends of members, starts and ends of reserved tasks, in order of time."""
        events: list[tuple[float, int, Callable[[Host], None]]] = []
        for member in self.members_on(row):
            events.append((self.member_ends(member)[p90], 0, giving_back(member.claim)))
        for reservation in self._on_row.get(row, ()):
            for claim in reservation.claims:
                if claim.row == row:
                    events.append((reservation.start_p50, 1, taking(claim)))
                    if not math.isinf(reservation.end):
                        events.append((reservation.end, 0, giving_back(claim)))
        events.sort(key=lambda event: event[:2])
        return [(at, change) for at, _, change in events]

    def _start_p90(self, demand: Demand, claims: tuple[Claim, ...], start: float) -> float:
        """The start at the same places under p90 ends."""
        latest = start
        for row in {claim.row for claim in claims}:
            wanted = sum(claim.row == row for claim in claims)
            host, found = host_of(self.cells, row), list[tuple[float, Claim]]()
            for at, change in self._events(row, p90=True):
                change(host)
                if at >= start:
                    add_while_fits(host, demand, wanted, at, found)
                if len(found) >= wanted:
                    break
            latest = max(latest, found[-1][0] if found else start)
        return latest

    def allows(self, task: Task, claims: Sequence[Claim], row: int) -> bool:
        """Whether these claims of the task, already in the cells, do not delay the row's reservations."""
        binding, end = self.binding(task, row), self.now + longest_run_s(task)
        own = [claim for claim in claims if claim.row == row]
        return all(self._leaves_room(reservation, task, binding, own, end) for reservation in binding)

    def binding(self, task: Task, row: int) -> Sequence[Reservation]:
        """The row's reservations that the task must not delay: not its own, and none that gives way to it."""
        others = (reservation for reservation in self.on_row(row) if reservation.task.id != task.id)
        return [reservation for reservation in others if not self.gives_way(reservation, task)]

    def claims_beside(self, task: Task, demand: Demand, rows: Iterable[int], most: int) -> list[Claim]:
        """Claims of up to `most` members on these rows now, beside the reservations of others that could start now.

        The best-scored place may take one card, partition or member's room that another needs; this leaves it free.
        """
        found: list[tuple[float, Claim]] = []
        for row in rows:
            host = host_of(self.cells, row)
            for reservation in self.binding(task, row):
                if reservation.start_p50 <= self.now:
                    reservation.take_from(host)
            add_while_fits(host, demand, most, self.now, found)
        return [claim for _, claim in found]

    def _leaves_room(
        self, reservation: Reservation, task: Task, binding: Sequence[Reservation], own: Sequence[Claim], end: float
    ) -> bool:
        own_room = self.reservation_of(task.id)
        is_behind = own_room is not None and own_room.start_p50 <= reservation.start_p50  # counts that room as taken
        if reservation.holds and not is_behind:
            return not self._uses_its_cards(reservation, own) and self._still_fits(reservation, binding, own)
        return end <= reservation.start_p50 or self._still_fits(reservation, binding, own)

    def _uses_its_cards(self, reservation: Reservation, own: Sequence[Claim]) -> bool:
        """Whether the claims use cards that the reserved task could use; always True if it needs no cards."""
        gpu = reservation.task.gpu
        if gpu is None:
            return True
        places = [(claim.row, self.cells.column_of[claim.row].get(p.device_id)) for claim in own for p in claim.slices]
        return any(column is not None and serves(self.cells.cards[row][column], gpu) for row, column in places)

    def gives_way(self, reservation: Reservation, task: Task) -> bool:
        """Whether the reservation does not bind the task: it can pre-empt the task, or the task goes first anyway.

        A guessed reservation binds nobody, unless its task has waited so long that it holds the room.
        """
        if reservation.guessed and not reservation.holds:
            return True
        taken_back = task.preemptible and not reservation.emptied and self.takes_back(reservation.task, task)
        return taken_back or (reservation.promised and self._comes_first(task, reservation.task))

    def _comes_first(self, task: Task, promised: Task) -> bool:
        """Whether the task goes ahead of an earlier promise. A promise of one member binds its own organisation only.

        Room that falls free is enough for whoever's turn it is, if that is as much as was promised; reserved for an
        organisation whose turn has passed, it would apply outdated shares. From smaller tasks it is kept, and so are
        several cards, since others could take them piece by piece, while what is left of them lies idle.
        """
        may_pass = task.organisation != promised.organisation and takes_as_much(task, promised)
        return may_pass or self.outranks(task, promised)

    def _still_fits(self, reservation: Reservation, binding: Sequence[Reservation], own: Sequence[Claim]) -> bool:
        """Whether the reserved members fit at their start beside the other binding ones, with `own` still held.

        `own` is part of the cells. The asking task's own reservation must not be in `binding`: its room would count
        twice, and tasks with promised room on one node would block each other for ever.
        """
        row, start = reservation.claims[0].row if not own else own[0].row, reservation.start_p50
        host = host_of(self.cells, row)
        for member in self.members_on(row):
            if self.member_ends(member)[0] <= start:
                host.give_back(member.claim)
        for other in binding:
            if other is not reservation and other.start_p50 <= start < other.end:
                other.take_from(host)
        wanted = sum(claim.row == row for claim in reservation.claims)
        found: list[tuple[float, Claim]] = []
        add_while_fits(host, demand_of(reservation.task), wanted, start, found)
        return len(found) >= wanted
