"""Rules that place MIG partitions on cards: the engine's own and those it is compared with."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Protocol

from scheduler.allocator import Allocator
from scheduler.cells import Cells, Claim
from scheduler.demand import Demand
from scheduler.mig import profiles_of, span
from scheduler.partitions import Geometry, slices_of
from scheduler.scorers import ByPotential
from scheduler.types import Device, GpuRequest, MigProfile, Mix, MixEntry, Mode, Node

# How many instances HAMi counts a card as (deviceSplitCount, its default), for its score of fullness.
HAMI_SPLIT = 10


class Rule(Protocol):
    """Places partitions under a number and takes them away again."""

    def place(self, number: int, profile: MigProfile) -> bool: ...

    def remove(self, number: int) -> None: ...


class ByEngine:
    """plstack: card and start with the least increase of fragmentation for the profiles in demand."""

    def __init__(self, card: Device, cards: int, mix: Sequence[tuple[MigProfile, float]]) -> None:
        devices = [Device(f"d{i}", 0, card.vendor, card.model, card.memory_mib, Mode.MIG) for i in range(cards)]
        self._cells = Cells([Node(f"n{i}", "", "", 0, 0, (device,)) for i, device in enumerate(devices)])
        typical = Mix(tuple(MixEntry(0, _request(profile), share) for profile, share in mix))
        self._allocator = Allocator(self._cells, ByPotential(self._cells, typical), typical)
        self._claims: dict[int, Claim] = {}

    def place(self, number: int, profile: MigProfile) -> bool:
        claim = self._allocator.best_claim(Demand(0, 0, _request(profile)), "")
        if claim is None:
            return False
        self._allocator.commit(claim)
        self._claims[number] = claim
        return True

    def remove(self, number: int) -> None:
        self._allocator.undo([self._claims.pop(number)])


def _request(profile: MigProfile) -> GpuRequest:
    return GpuRequest(Mode.MIG, 1, profile=profile.name)


@dataclass(slots=True)
class Card:
    """What a plain rule sees of a card."""

    mask: int = 0
    instances: int = 0
    compute: int = 0


Order = Callable[[Sequence[Card]], Iterable[int]]
Start = Callable[[int, MigProfile], int | None]


class ByMask:
    """`order` lists the cards to try, `start` names the place on a card."""

    def __init__(self, cards: int, order: Order, start: Start) -> None:
        self._cards, self._order, self._start = [Card() for _ in range(cards)], order, start
        self._held: dict[int, tuple[Card, int, MigProfile]] = {}

    def place(self, number: int, profile: MigProfile) -> bool:
        for index in self._order(self._cards):
            card = self._cards[index]
            start = self._start(card.mask, profile)
            if start is not None:
                self._held[number] = card, span(start, profile.size), profile
                card.mask |= span(start, profile.size)
                card.instances, card.compute = card.instances + 1, card.compute + profile.compute
                return True
        return False

    def remove(self, number: int) -> None:
        card, piece, profile = self._held.pop(number)
        card.mask &= ~piece
        card.instances, card.compute = card.instances - 1, card.compute - profile.compute


def lowest_start(mask: int, profile: MigProfile) -> int | None:
    return next((start for start in profile.starts if not mask & span(start, profile.size)), None)


def by_number(cards: Sequence[Card]) -> Iterable[int]:
    return range(len(cards))


def fullest_first(cards: Sequence[Card]) -> Iterable[int]:
    return sorted(range(len(cards)), key=lambda index: (-cards[index].mask.bit_count(), index))


def hami_high_low(mask: int, profile: MigProfile) -> int | None:
    """HAMi as it first placed by NVML's placements: 1g and 3g from the top, others from the bottom.

    Project-HAMi/HAMi, pkg/device/nvidia/mig_topology.go, `orderedMigPlacements`.
    """
    downwards = profile.name.startswith(("1g.", "3g."))
    starts = sorted(profile.starts, reverse=downwards)
    return next((start for start in starts if not mask & span(start, profile.size)), None)


class Hami:
    """HAMi's order since it scores placements. Project-HAMi/HAMi, pkg/device/nvidia/mig_topology.go, `migLayout`.

    The card is seen as two halves. A place is better when it leaves more halves empty; when what fills a half goes to
    the half with fewer legal places and the rest to the other one; when it is further from the middle; when it is
    lower. Cards are tried in order of use, the fullest first (binpack, the default policy for nodes:
    pkg/scheduler/policy/node_policy.go adds instances, compute and memory, each over the card's); equals by number.
    """

    def __init__(self, geometry: Geometry) -> None:
        self._slices = slices_of(geometry)
        self._compute = max(p.compute for p in geometry)
        middle = self._slices // 2
        halves = [(0, middle), (middle, self._slices)]
        places = [(start, start + p.size) for p in geometry for start in p.starts]
        across = any(a < middle < b and b - a < self._slices for a, b in places)
        self._regions = [(0, self._slices)] if across else halves
        inside = [sum(low <= a and b <= high for a, b in places) for low, high in self._regions]
        self._reserved = max(i for i, count in enumerate(inside) if count == min(inside))
        self.start = cache(self._start)

    def order(self, cards: Sequence[Card]) -> Iterable[int]:
        return sorted(range(len(cards)), key=lambda index: (-self._use(cards[index]), index))

    def _use(self, card: Card) -> float:
        return card.instances / HAMI_SPLIT + card.compute / self._compute + card.mask.bit_count() / self._slices

    def _start(self, mask: int, profile: MigProfile) -> int | None:
        free = [start for start in profile.starts if not mask & span(start, profile.size)]
        return min(free, key=lambda start: self._rank(mask, start, profile.size), default=None)

    def _rank(self, mask: int, start: int, size: int) -> tuple[int, int, int, int]:
        after, mismatch, distance = mask | span(start, size), 0, 0
        empty = sum(not after & span(low, high - low) for low, high in self._regions)
        for index, (low, high) in enumerate(self._regions):
            if len(self._regions) > 1 and low <= start and start + size <= high:
                mismatch = int((size == high - low) != (index == self._reserved))
                distance = high - (start + size) if index == 0 else start - low
        return -empty, mismatch, -distance, start


def rules(card: Device, cards: int, mix: Sequence[tuple[MigProfile, float]]) -> dict[str, Callable[[], Rule]]:
    """All rules by name, each made afresh for a run."""
    hami = Hami(profiles_of(card))
    return {
        "plstack": lambda: ByEngine(card, cards, mix),
        "hami": lambda: ByMask(cards, hami.order, hami.start),
        "hami_high_low": lambda: ByMask(cards, hami.order, hami_high_low),
        "fullest": lambda: ByMask(cards, fullest_first, lowest_start),
        "first_fit": lambda: ByMask(cards, by_number, lowest_start),
    }
