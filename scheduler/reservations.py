"""Room that is kept for a task on single nodes from some time on."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from scheduler.cells import Claim
from scheduler.demand import Demand
from scheduler.host import Host
from scheduler.types import Task


@dataclass(frozen=True, slots=True)
class Reservation:
    """Room kept for a task from `start_p50` on. `promised`: by an earlier pass, ahead of the turns of this one.

    `holds`: the task has waited so long that predictions count no more; what is free on its rows stays free for it.
    `guessed`: the start waits for the end of one without an estimate, or past it: nobody knows when that will be.
    `emptied`: others have been asked to leave for it. It binds even those whose place it could take back: each of them
    would be the next to be asked, and the task would never start.
    """

    task: Task
    claims: tuple[Claim, ...]
    start_p50: float
    start_p90: float
    end: float
    promised: bool = False
    holds: bool = False
    guessed: bool = False
    emptied: bool = False

    def put_on(self, host: Host) -> None:
        """Take what is reserved on the host's row."""
        for claim in self.claims:
            if claim.row == host.row:
                host.take(claim)


def leaves(claim: Claim) -> Callable[[Host], None]:
    return lambda host: host.give_back(claim)


def comes(claim: Claim) -> Callable[[Host], None]:
    return lambda host: host.take(claim)


def fill(host: Host, demand: Demand, most: int, at: float, found: list[tuple[float, Claim]]) -> None:
    """Add members to the host while they fit, each noted with the time."""
    while len(found) < most and (claim := host.fits(demand)) is not None:
        host.take(claim)
        found.append((at, claim))
