"""When things end, and when a task that is blocked now could start: reservations over the nodes' future.

EASY backfill (Lifka, 1995) with up to `Rules.reservations` reservations. Ends come from p50 and p90 estimates. A lower
task may use a reserved node only if it has ended (p90) by the reserved start (p50), or the reserved task still fits
beside it, or the reserved task may take the place back. A start that is only guessed binds nobody: room would lie idle
for as long as a task without an estimate happens to run. What starves by that holds its room after `hold_after_s`.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from scheduler.cells import Bools, Cells, Claim, Ints
from scheduler.columns import RequestClass
from scheduler.demand import Demand, demand_of, least_members, serves
from scheduler.horizon import Bounds, ends_of, is_endless
from scheduler.host import Host, host_of
from scheduler.reservations import Reservation, comes, fill, leaves
from scheduler.roster import Member, Roster
from scheduler.types import Task

MOST_ROWS = 64


@dataclass(slots=True)
class Future:
    """Who is where until when, and the reservations made so far in this pass."""

    cells: Cells
    now: float
    roster: Roster
    takes_back: Callable[[Task, Task], bool]
    outranks: Callable[[Task, Task], bool]
    reservations: list[Reservation] = field(default_factory=list)
    held: Bools = field(default_factory=lambda: np.zeros(0, np.bool_))  # [N] rows on which something is held
    has_promises: bool = False
    _on_row: defaultdict[int, list[Reservation]] = field(default_factory=lambda: defaultdict(list))
    _by_task: dict[str, Reservation] = field(default_factory=dict)
    _bounds: Bounds | None = None

    def __post_init__(self) -> None:
        self.held = np.zeros(len(self.cells), np.bool_)

    def reserved(self, row: int) -> bool:
        return row in self._on_row

    def on_row(self, row: int) -> Sequence[Reservation]:
        return self._on_row.get(row, ())

    def add(self, reservation: Reservation) -> None:
        self.reservations.append(reservation)
        self.has_promises |= reservation.promised
        self._by_task[reservation.task.id] = reservation
        for row in {claim.row for claim in reservation.claims}:
            self._on_row[row].append(reservation)

    def drop(self, task_id: str) -> None:
        """The task has started: what was kept for it is kept no longer."""
        kept = self.kept_for(task_id)
        if kept is None:
            return
        self.reservations.remove(kept)
        del self._by_task[task_id]
        for row in {claim.row for claim in kept.claims}:
            self._on_row[row].remove(kept)
            if not self._on_row[row]:
                del self._on_row[row]

    def kept_for(self, task_id: str) -> Reservation | None:
        return self._by_task.get(task_id)

    def first_on(self, row: int, task: Task) -> Reservation | None:
        """The earliest reservation of another task on the row."""
        others = [r for r in self._on_row.get(row, ()) if r.task.id != task.id]
        return min(others, key=lambda r: r.start_p50, default=None)

    def hold(self, reservation: Reservation) -> Reservation:
        """From here on the reservation holds what is free on its rows."""
        held = replace(reservation, holds=True)
        self.drop(reservation.task.id)
        self.add(held)
        self.held[[claim.row for claim in held.claims]] = True
        return held

    def confirm(self, reservation: Reservation) -> Reservation:
        """Its turn has come: from here on it is like any other, and binds all who come later."""
        self.drop(reservation.task.id)
        confirmed = replace(reservation, promised=False)
        self.add(confirmed)
        return confirmed

    def all_held(self, rows: Bools | None) -> bool:
        """Whether something is held on each of these rows [N]."""
        return rows is not None and bool(self.held[rows].all())

    def members_on(self, row: int) -> Sequence[Member]:
        return self.roster.on_row.get(row, ())

    def ends_of(self, member: Member) -> tuple[float, float]:
        """(p50, p90) end of a member."""
        return ends_of(member, self.now)

    def leaves(self, task_id: str, for_task: str) -> None:
        """The task has been asked to go; from here on its members count as gone at once."""
        self.roster.leave(task_id, for_task)
        self._bounds = None

    def placed(self, member: Member) -> None:
        """A member was placed in this pass."""
        self.roster.add(member)
        if self._bounds is not None:
            self._bounds.note([member])

    def reserve(
        self, kind: RequestClass, task: Task, least: int, only: Sequence[int] | None = None
    ) -> Reservation | None:
        """The earliest start of `least` members under p50 ends, on rows of one domain; None when no end would do."""
        best: tuple[float, list[tuple[float, Claim]]] | None = None
        for rows in self._domains(kind, least) if only is None else [np.array(only, np.int64)]:
            found = self._earliest(kind, rows, least)
            if found and (best is None or found[-1][0] < best[0]):
                best = found[-1][0], found
        if best is None:
            return None
        start, claims = best[0], tuple(claim for _, claim in best[1])
        run = task.estimate_p90_s if task.estimate_p90_s is not None else math.inf
        start_p90 = self._start_p90(kind.demand, claims, start)
        return Reservation(task, claims, start, start_p90, start + run, guessed=self._is_guess(claims, start))

    def _is_guess(self, claims: Sequence[Claim], start: float) -> bool:
        """Whether somebody must leave before this start of whom nobody knows when."""
        if start <= self.now:
            return False
        rows = {claim.row for claim in claims}
        leaving = (member for row in rows for member in self.members_on(row) if self.ends_of(member)[0] <= start)
        ending = (reservation for row in rows for reservation in self.on_row(row) if reservation.end <= start)
        return any(is_endless(member, self.now) for member in leaving) or any(r.guessed for r in ending)

    def _domains(self, kind: RequestClass, least: int) -> list[Ints]:
        rows: Ints = np.flatnonzero(kind.allowed)
        if least == 1:
            return [rows]
        groups: defaultdict[tuple[str, ...], list[int]] = defaultdict(list)
        for row in rows.tolist():
            node = self.cells.nodes[row]
            groups[node.zone, node.cluster, ",".join(sorted({card.model for card in node.devices}))].append(row)
        return [np.array(group) for group in groups.values()]

    def _earliest(self, kind: RequestClass, rows: Ints, least: int) -> list[tuple[float, Claim]]:
        if self._bounds is None:
            self._bounds = Bounds(self.cells, self.roster, self.now)
        bound = self._bounds.of(kind, rows)
        found: list[tuple[float, Claim]] = []
        for index in np.argsort(bound, kind="stable")[: max(MOST_ROWS, 4 * least)]:
            if math.isinf(bound[index]) or (len(found) >= least and found[least - 1][0] <= bound[index]):
                break
            found += self._starts(int(rows[index]), kind.demand, least, float(bound[index]))
            found.sort(key=lambda pair: (pair[0], pair[1].row))
        return found[:least] if len(found) >= least else []

    def _starts(self, row: int, demand: Demand, most: int, bound: float) -> list[tuple[float, Claim]]:
        """When the first, second, ... member would fit on the row, after the reservations that are there already.

        None fits before `bound`, so nothing is tried before it.
        """
        host, found = host_of(self.cells, row), list[tuple[float, Claim]]()
        floor = max([bound, self.now, *(r.start_p50 for r in self.on_row(row))])
        for at, change in self._events(row):
            if at > floor:
                fill(host, demand, most, floor, found)
            if len(found) >= most:
                break
            change(host)
            floor = max(floor, at)
        fill(host, demand, most, floor, found)
        return found

    def _events(self, row: int, p90: bool = False) -> list[tuple[float, Callable[[Host], None]]]:
        """Members leaving, reserved tasks coming and leaving, in order of time."""
        events: list[tuple[float, int, Callable[[Host], None]]] = []
        for member in self.members_on(row):
            events.append((self.ends_of(member)[p90], 0, leaves(member.claim)))
        for reservation in self._on_row.get(row, ()):
            for claim in reservation.claims:
                if claim.row == row:
                    events.append((reservation.start_p50, 1, comes(claim)))
                    if not math.isinf(reservation.end):
                        events.append((reservation.end, 0, leaves(claim)))
        events.sort(key=lambda event: event[:2])
        return [(at, change) for at, _, change in events]

    def _start_p90(self, demand: Demand, claims: tuple[Claim, ...], start: float) -> float:
        """The same places under p90 ends."""
        latest = start
        for row in {claim.row for claim in claims}:
            wanted = sum(claim.row == row for claim in claims)
            host, found = host_of(self.cells, row), list[tuple[float, Claim]]()
            for at, change in self._events(row, p90=True):
                change(host)
                if at >= start:
                    fill(host, demand, wanted, at, found)
                if len(found) >= wanted:
                    break
            latest = max(latest, found[-1][0] if found else start)
        return latest

    def allows(self, task: Task, claims: Sequence[Claim], row: int) -> bool:
        """Whether these claims of the task, already in the cells, leave the row's reservations their start."""
        binding = self.binding(task, row)
        end = self.now + task.estimate_p90_s if task.estimate_p90_s is not None else math.inf
        own = [claim for claim in claims if claim.row == row]
        return all(self._leaves_room(reservation, task, binding, own, end) for reservation in binding)

    def binding(self, task: Task, row: int) -> Sequence[Reservation]:
        """The row's reservations that the task must leave their start: not its own, and none that gives way to it."""
        others = (reservation for reservation in self.on_row(row) if reservation.task.id != task.id)
        return [reservation for reservation in others if not self.gives_way(reservation, task)]

    def beside(self, task: Task, demand: Demand, rows: Iterable[int], most: int) -> list[Claim]:
        """Up to `most` members on these rows as they are now, next to the room of others that could start there now.

        What scores best may take the one card, partition or member too many that another needs; this leaves it.
        """
        found: list[tuple[float, Claim]] = []
        for row in rows:
            host = host_of(self.cells, row)
            for reservation in self.binding(task, row):
                if reservation.start_p50 <= self.now:
                    reservation.put_on(host)
            fill(host, demand, most, self.now, found)
        return [claim for _, claim in found]

    def _leaves_room(
        self, reservation: Reservation, task: Task, binding: Sequence[Reservation], own: Sequence[Claim], end: float
    ) -> bool:
        kept = self.kept_for(task.id)
        is_behind = kept is not None and kept.start_p50 <= reservation.start_p50  # it counts on that room being taken
        if reservation.holds and not is_behind:
            return not self._uses_its_cards(reservation, own) and self._still_fits(reservation, binding, own)
        return end <= reservation.start_p50 or self._still_fits(reservation, binding, own)

    def _uses_its_cards(self, reservation: Reservation, own: Sequence[Claim]) -> bool:
        """Whether the claims sit on cards that the reserved task could use; without cards everything counts."""
        gpu = reservation.task.gpu
        if gpu is None:
            return True
        places = [(claim.row, self.cells.column_of[claim.row].get(p.device_id)) for claim in own for p in claim.slices]
        return any(column is not None and serves(self.cells.cards[row][column], gpu) for row, column in places)

    def gives_way(self, reservation: Reservation, task: Task) -> bool:
        """Whether the reservation does not bind the task: it can take the place back, or the task goes first anyway.

        Nor does a guess, unless the reserved task has waited so long that it holds the room all the same.
        """
        if reservation.guessed and not reservation.holds:
            return True
        taken_back = task.preemptible and not reservation.emptied and self.takes_back(reservation.task, task)
        return taken_back or (reservation.promised and self._comes_first(task, reservation.task))

    def _comes_first(self, task: Task, promised: Task) -> bool:
        """Whether the task goes ahead of an earlier promise. A promise of one card binds its own organisation only.

        A card that falls free is all there for whoever's turn it is: kept for the organisation whose turn it was, it
        would carry yesterday's shares into tomorrow. Several cards are kept, since others could nibble at them.
        """
        if task.organisation != promised.organisation and least_members(promised) * demand_of(promised).cards <= 1:
            return True
        return self.outranks(task, promised)

    def _still_fits(self, reservation: Reservation, binding: Sequence[Reservation], own: Sequence[Claim]) -> bool:
        """Whether the reserved members fit at their start beside the others that bind, with `own` still held.

        `own` is part of the cells. The asking task's own reservation must not stand beside it: what it takes would
        count twice, and tasks that were promised room on one node would refuse each other for ever.
        """
        row, start = reservation.claims[0].row if not own else own[0].row, reservation.start_p50
        host = host_of(self.cells, row)
        for member in self.members_on(row):
            if self.ends_of(member)[0] <= start:
                host.give_back(member.claim)
        for other in binding:
            if other is not reservation and other.start_p50 <= start < other.end:
                other.put_on(host)
        wanted = sum(claim.row == row for claim in reservation.claims)
        found: list[tuple[float, Claim]] = []
        fill(host, demand_of(reservation.task), wanted, start, found)
        return len(found) >= wanted
