"""Those who may be asked to give way, what it would cost, and a node without them."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field

from scheduler.cells import Claim
from scheduler.demand import Demand
from scheduler.host import Host
from scheduler.roster import Member
from scheduler.shares import sum_of
from scheduler.types import Task

Cost = tuple[int, float, int, int]


@dataclass(frozen=True, slots=True)
class Victim:
    """A task that may give way, all its members together. `bundle` is all that it holds."""

    task: Task
    members: tuple[Member, ...]
    lost_gpu_s: float
    bundle: Mapping[str, int]
    cost: Cost = field(init=False)  # kept: a search compares it over and over

    def __post_init__(self) -> None:
        cost = self.task.priority, round(self.lost_gpu_s, 3), int(len(self.members) > 1), 1
        object.__setattr__(self, "cost", cost)

    @property
    def rows(self) -> set[int]:
        return {member.claim.row for member in self.members}


@dataclass(frozen=True, slots=True)
class Eviction:
    """These tasks go, these claims are then free for the task."""

    victims: tuple[Victim, ...]
    claims: tuple[Claim, ...]
    cost: Cost = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "cost", cost_of(self.victims))


def cost_of(victims: Collection[Victim]) -> Cost:
    """Lower is better. Guarantee violations come first of all and are zero: such victims are not candidates."""
    priority = max((v.task.priority for v in victims), default=0)
    lost = sum(v.lost_gpu_s for v in victims)
    return priority, round(lost, 3), sum(len(v.members) > 1 for v in victims), len(victims)


def by_cost(eviction: Eviction) -> tuple[Cost, int]:
    return eviction.cost, eviction.claims[-1].row


def bundle_of(members: Iterable[Member]) -> Mapping[str, int]:
    """All that these members hold, by resource."""
    return sum_of(member.bundle for member in members)


def go(host: Host, victim: Victim) -> None:
    """The victim leaves the host's row."""
    for member in victim.members:
        if member.claim.row == host.row:
            host.give_back(member.claim)


def stay(host: Host, victim: Victim) -> None:
    for member in victim.members:
        if member.claim.row == host.row:
            host.take(member.claim)


def prune(host: Host, demand: Demand, chosen: list[Victim]) -> None:
    """Spare every victim that turns out not to be needed, the dearest first. The host has lost all of them."""
    for victim in sorted(chosen, key=lambda v: (v.cost, v.task.id), reverse=True):
        stay(host, victim)
        if host.fits(demand) is not None:
            chosen.remove(victim)
        else:
            go(host, victim)
