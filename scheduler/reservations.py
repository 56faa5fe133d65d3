"""Reservations of room on nodes for a task from a start time on."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace

import numpy as np

from scheduler.cells import Bools, Cells, Claim
from scheduler.demand import Demand
from scheduler.host import Host
from scheduler.types import Task


@dataclass(frozen=True, slots=True)
class Reservation:
    """Room reserved for a task from `start_p50` on. `promised`: by an earlier pass, before the turns of this one.

    `holds`: the task has waited so long that predictions no longer count; free room on its rows stays free for it.
    `guessed`: the start waits for the end of a task without an estimate, or past it, so it is unknown.
    `estimated`: all ends that the start waits for are estimated, if only by what owners say, and none is overdue.
    `emptied`: others have been asked to leave for it. It binds even tasks that it could pre-empt: otherwise each of
    them would be the next to be asked to leave, and the task would never start.
    """

    task: Task
    claims: tuple[Claim, ...]
    start_p50: float
    start_p90: float
    end: float
    promised: bool = False
    holds: bool = False
    guessed: bool = False
    estimated: bool = False
    emptied: bool = False

    def take_from(self, host: Host) -> None:
        """Take the reserved room on the host's row from the host."""
        for claim in self.claims:
            if claim.row == host.row:
                host.take(claim)


@dataclass
class ReservationBook:
    """The reservations made so far in this pass, by row and by task. `held_rows` [N] are held by one of them."""

    cells: Cells
    reservations: list[Reservation] = field(default_factory=list)
    held_rows: Bools = field(default_factory=lambda: np.zeros(0, np.bool_))
    has_promises: bool = False
    _on_row: defaultdict[int, list[Reservation]] = field(default_factory=lambda: defaultdict(list))
    _by_task: dict[str, Reservation] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.held_rows = np.zeros(len(self.cells), np.bool_)

    @contextmanager
    def undone(self) -> Iterator[None]:
        """Leave no reservation of the block behind."""
        reservations, by_task, held = list(self.reservations), dict(self._by_task), self.held_rows.copy()
        on_row, promises = {row: list(here) for row, here in self._on_row.items()}, self.has_promises
        yield
        self.reservations, self._by_task, self.held_rows = reservations, by_task, held
        self._on_row, self.has_promises = defaultdict(list, on_row), promises

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
        """Drop the task's reservation, if it has one."""
        reservation = self.reservation_of(task_id)
        if reservation is None:
            return
        self.reservations.remove(reservation)
        del self._by_task[task_id]
        for row in {claim.row for claim in reservation.claims}:
            self._on_row[row].remove(reservation)
            if not self._on_row[row]:
                del self._on_row[row]

    def reservation_of(self, task_id: str) -> Reservation | None:
        return self._by_task.get(task_id)

    def earliest_on(self, row: int, task: Task) -> Reservation | None:
        """The earliest reservation of another task on the row."""
        others = [r for r in self._on_row.get(row, ()) if r.task.id != task.id]
        return min(others, key=lambda r: r.start_p50, default=None)

    def hold(self, reservation: Reservation) -> Reservation:
        """Let the reservation hold the free room on its rows from now on."""
        held = replace(reservation, holds=True)
        self.drop(reservation.task.id)
        self.add(held)
        self.held_rows[[claim.row for claim in held.claims]] = True
        return held

    def confirm(self, reservation: Reservation) -> Reservation:
        """Turn a promise into an ordinary reservation at the task's turn: it binds all later tasks."""
        self.drop(reservation.task.id)
        confirmed = replace(reservation, promised=False)
        self.add(confirmed)
        return confirmed

    def all_held(self, rows: Bools | None) -> bool:
        """Whether each of these rows [N] is held."""
        return rows is not None and bool(self.held_rows[rows].all())


def giving_back(claim: Claim) -> Callable[[Host], None]:
    return lambda host: host.give_back(claim)


def taking(claim: Claim) -> Callable[[Host], None]:
    return lambda host: host.take(claim)


def add_while_fits(host: Host, demand: Demand, most: int, at: float, found: list[tuple[float, Claim]]) -> None:
    """Add members to the host while they fit, and append each claim with the time to `found`."""
    while len(found) < most and (claim := host.fits(demand)) is not None:
        host.take(claim)
        found.append((at, claim))
