"""Expected ends of members, and the earliest time at which a task could fit on a row."""

from __future__ import annotations

import math
from collections.abc import Iterable

import numpy as np

from scheduler.cells import Cells, Floats, Ints
from scheduler.columns import RequestClass
from scheduler.roster import Member, Roster
from scheduler.types import Mode, Task

UNKNOWN_P50_S = 4 * 3600.0
UNKNOWN_P90_S = 24 * 3600.0
OVERDUE_FACTOR = 1.25


def expected_ends(task: Task, started_at: float, now: float) -> tuple[float, float]:
    """(p50, p90) end. A task past its estimate is expected to take a quarter longer than it has so far."""
    elapsed = max(0.0, now - started_at)
    p50 = task.estimate_p50_s if task.estimate_p50_s is not None else UNKNOWN_P50_S
    p90 = task.estimate_p90_s if task.estimate_p90_s is not None else max(p50, UNKNOWN_P90_S)
    p50 = p50 if p50 >= elapsed else elapsed * OVERDUE_FACTOR
    return started_at + p50, started_at + max(p50, p90 if p90 >= elapsed else elapsed * OVERDUE_FACTOR)


def longest_run_s(task: Task) -> float:
    """How long it runs at most (p90), as far as others may rely on it; inf without an estimate, or an unproven one."""
    return task.estimate_p90_s if task.estimate_p90_s is not None and not task.unproven else math.inf


def member_ends(member: Member, now: float) -> tuple[float, float]:
    """(p50, p90) end of a member; a leaving one counts as ended now."""
    return (now, now) if member.leaving else expected_ends(member.task, member.started_at, now)


def end_is_unknown(member: Member, now: float) -> bool:
    """Whether nobody may rely on its end: the task has no proven estimate, or is past its p90."""
    return not member.leaving and (member.task.unproven or is_overdue(member, now))


def is_overdue(member: Member, now: float) -> bool:
    """Whether its end cannot be estimated: the task has no estimate of any kind, or is past its p90."""
    p90 = member.task.estimate_p90_s
    return not member.leaving and (p90 is None or now - member.started_at > p90)


class Bounds:
    """Per card and row, when its members end (p50): a cheap lower bound on the start times worth trying."""

    def __init__(self, cells: Cells, members: Iterable[Member], now: float) -> None:
        shape = cells.core.shape
        self.cells, self.now = cells, now
        self._all_free = np.full(shape, now)  # [N, G] when the card is all free
        self._first = np.full(shape, math.inf)  # [N, G] when its first member leaves
        self._row_first = np.full(len(cells), math.inf)  # [N] when the row's first member leaves
        self.add(members)

    def copied(self) -> Bounds:
        """One to which members can be added alone."""
        made = Bounds(self.cells, (), self.now)
        made._all_free, made._first, made._row_first = self._all_free.copy(), self._first.copy(), self._row_first.copy()
        return made

    def add(self, members: Iterable[Member]) -> None:
        """Add running members, all at once: one at a time would cost more than all the rest of a reservation."""
        on_rows = [(member.claim.row, member_ends(member, self.now)[0], member.columns) for member in members]
        rows = np.array([row for row, _, _ in on_rows], np.int64)
        np.minimum.at(self._row_first, rows, np.array([end for _, end, _ in on_rows], np.float64))
        cards = [(row, column, end) for row, end, columns in on_rows for column in columns]
        if cards:
            at_row, at_column, end = (np.array(part) for part in zip(*cards, strict=True))
            np.maximum.at(self._all_free, (at_row, at_column), end)
            np.minimum.at(self._first, (at_row, at_column), end)

    def earliest(self, kind: RequestClass, rows: Ints) -> Floats:
        """[k]: a time before which one member cannot fit on the row; inf if the row lacks the cards."""
        cells, demand = self.cells, kind.demand
        short = (cells.cpu[rows] < demand.cpu_milli) | (cells.memory[rows] < demand.memory_mib)
        bound = np.where(short, self._row_first[rows], self.now)
        if kind.cards is None:
            return bound
        if kind.cards.gpu.count > cells.width:
            return np.full(len(rows), math.inf)
        busy = self._all_free if kind.cards.gpu.mode is Mode.WHOLE else self._first
        when = np.where(kind.cards.fitting_cards(rows), self.now, busy[rows])
        when = np.where(kind.cards.fits[cells.shape[rows]], when, math.inf)
        return np.asarray(np.maximum(bound, np.sort(when, axis=1)[:, kind.cards.gpu.count - 1]))


def bounds_of(cells: Cells, roster: Roster, now: float) -> Bounds:
    """Of everybody who runs now; made once for all plans of a moment that have not started or asked anybody yet."""
    if not roster.is_untouched:
        return Bounds(cells, roster, now)
    return roster.kept("bounds", now, lambda: Bounds(cells, roster, now)).copied()
