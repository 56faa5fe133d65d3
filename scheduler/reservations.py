"""Reservations of room on nodes for a task from a start time on."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from scheduler.cells import Claim
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


def giving_back(claim: Claim) -> Callable[[Host], None]:
    return lambda host: host.give_back(claim)


def taking(claim: Claim) -> Callable[[Host], None]:
    return lambda host: host.take(claim)


def add_while_fits(host: Host, demand: Demand, most: int, at: float, found: list[tuple[float, Claim]]) -> None:
    """Add members to the host while they fit, and append each claim with the time to `found`."""
    while len(found) < most and (claim := host.fits(demand)) is not None:
        host.take(claim)
        found.append((at, claim))
