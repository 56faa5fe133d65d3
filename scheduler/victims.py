"""Victims of pre-emption, their cost, and a node with and without them."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field

from scheduler.cells import Claim
from scheduler.demand import Demand
from scheduler.host import Host
from scheduler.roster import Member
from scheduler.shares import sum_bundles
from scheduler.types import Task

Cost = tuple[int, float, int, int]


@dataclass(frozen=True, slots=True)
class Victim:
    """A task that may give way, all its members together. `bundle` is all that it holds."""

    task: Task
    members: tuple[Member, ...]
    lost_gpu_s: float
    bundle: Mapping[str, int]
    cost: Cost = field(init=False)  # computed once: a search compares it very often

    def __post_init__(self) -> None:
        cost = self.task.priority, round(self.lost_gpu_s, 3), int(len(self.members) > 1), 1
        object.__setattr__(self, "cost", cost)

    @property
    def rows(self) -> set[int]:
        return {member.claim.row for member in self.members}


@dataclass(frozen=True, slots=True)
class Eviction:
    """The victims that leave, and the claims that the task can then make."""

    victims: tuple[Victim, ...]
    claims: tuple[Claim, ...]
    cost: Cost = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "cost", cost_of(self.victims))


def cost_of(victims: Collection[Victim]) -> Cost:
    """Lower is better. Guarantee violations need no term: victims that would cause one are not candidates."""
    priority = max((v.task.priority for v in victims), default=0)
    lost = sum(v.lost_gpu_s for v in victims)
    return priority, round(lost, 3), sum(len(v.members) > 1 for v in victims), len(victims)


def by_cost(eviction: Eviction) -> tuple[Cost, int]:
    return eviction.cost, eviction.claims[-1].row


def bundle_of_members(members: Iterable[Member]) -> Mapping[str, int]:
    """The resources that these members hold."""
    return sum_bundles(member.bundle for member in members)


def remove_victim(host: Host, victim: Victim) -> None:
    """Free what the victim holds on the host's row."""
    for member in victim.members:
        if member.claim.row == host.row:
            host.give_back(member.claim)


def put_back_victim(host: Host, victim: Victim) -> None:
    for member in victim.members:
        if member.claim.row == host.row:
            host.take(member.claim)


def prune(host: Host, demand: Demand, chosen: list[Victim]) -> None:
    """Drop every victim from `chosen` that is not needed, the costliest first. All of them are off the host."""
    for victim in sorted(chosen, key=lambda v: (v.cost, v.task.id), reverse=True):
        put_back_victim(host, victim)
        if host.fits(demand) is not None:
            chosen.remove(victim)
        else:
            remove_victim(host, victim)
