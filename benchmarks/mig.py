"""How much of a MIG cluster's compute each rule of placement keeps in use.

Method: cards of one model, all in MIG mode. Partitions arrive as a Poisson stream, profiles drawn from a mix, and live
for exponential times; the compute asked for at any time is 120 % of what there is. What does not fit at its arrival is
lost. Share = mean over time of compute slices in use over all compute slices, after a warm-up, mean over seeds.
Rules: plstack, the engine's own (least increase of fragmentation); first_fit, the first card and lowest legal start;
fullest, the fullest card that fits and the lowest legal start.

    python -m benchmarks.mig --cards 100 --seeds 3 --json
"""

import argparse
import heapq
import json
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from scheduler.allocator import Allocator
from scheduler.cells import Cells, Claim
from scheduler.demand import Demand
from scheduler.mig import span, table_for
from scheduler.scorers import ByPotential
from scheduler.types import Device, GpuRequest, MigProfile, Mix, MixEntry, Mode, Node

MODEL, MEMORY_MIB, COMPUTE = "H100", 81920, 7
LOAD = 1.2
GEOMETRY = tuple(p for p in table_for(MODEL, MEMORY_MIB) if not p.name.endswith("+me"))
MIXES = {
    "uniform": (1, 1, 1, 1, 1, 1),
    "small": (8, 3, 4, 2, 1, 0),
    "bimodal": (6, 0, 0, 3, 3, 0),
}
ARRIVALS, WARM_UP = 6000, 2000


@dataclass(frozen=True, slots=True)
class Partition:
    """One request: when it arrives, how long it lives (mean time between arrivals = 1)."""

    profile: MigProfile
    arrives: float
    lives: float


class Rule(Protocol):
    """Places partitions under a number and takes them away again."""

    def place(self, number: int, profile: MigProfile) -> bool: ...

    def remove(self, number: int) -> None: ...


def draw(mix: tuple[int, ...], cards: int, seed: int) -> list[Partition]:
    random = np.random.default_rng(seed)
    weights = np.array(mix, float) / sum(mix)
    mean_compute = float(sum(w * p.compute for w, p in zip(weights, GEOMETRY, strict=True)))
    life = LOAD * COMPUTE * cards / mean_compute
    picks = random.choice(len(GEOMETRY), ARRIVALS, p=weights)
    times = np.cumsum(random.exponential(1.0, ARRIVALS))
    lives = random.exponential(life, ARRIVALS)
    return [Partition(GEOMETRY[p], float(t), float(d)) for p, t, d in zip(picks, times, lives, strict=True)]


def run(rule: Rule, asked: list[Partition], cards: int) -> float:
    """Mean share of compute in use after the warm-up."""
    leaving: list[tuple[float, int]] = []
    used, area, last = 0, 0.0, asked[WARM_UP].arrives
    for number, partition in enumerate(asked):
        while leaving and leaving[0][0] <= partition.arrives:
            at, gone = heapq.heappop(leaving)
            area, last = area + used * max(0.0, at - last), max(last, at)
            rule.remove(gone)
            used -= asked[gone].profile.compute
        area, last = area + used * max(0.0, partition.arrives - last), max(last, partition.arrives)
        if rule.place(number, partition.profile):
            used += partition.profile.compute
            heapq.heappush(leaving, (partition.arrives + partition.lives, number))
    return area / (asked[-1].arrives - asked[WARM_UP].arrives) / (COMPUTE * cards)


class ByEngine:
    def __init__(self, cards: int, mix: tuple[int, ...]) -> None:
        devices = [Device(f"d{i}", 0, "nvidia", MODEL, MEMORY_MIB, Mode.MIG) for i in range(cards)]
        self._cells = Cells([Node(f"n{i}", "", "", 0, 0, (device,)) for i, device in enumerate(devices)])
        entries = [MixEntry(0, _request(p), w / sum(mix)) for p, w in zip(GEOMETRY, mix, strict=True)]
        typical = Mix(tuple(entries))
        self._allocator = Allocator(self._cells, ByPotential(self._cells, typical), typical)
        self._claims: dict[int, Claim] = {}

    def place(self, number: int, profile: MigProfile) -> bool:
        claim = self._allocator.spot(Demand(0, 0, _request(profile)), "")
        if claim is None:
            return False
        self._allocator.commit(claim)
        self._claims[number] = claim
        return True

    def remove(self, number: int) -> None:
        self._allocator.undo([self._claims.pop(number)])


def _request(profile: MigProfile) -> GpuRequest:
    return GpuRequest(Mode.MIG, 1, profile=profile.name)


class ByMask:
    """A plain rule over occupancy masks. `order` lists the cards to try."""

    def __init__(self, cards: int, order: Callable[[list[int]], Iterable[int]]) -> None:
        self._masks, self._order = [0] * cards, order
        self._held: dict[int, tuple[int, int]] = {}

    def place(self, number: int, profile: MigProfile) -> bool:
        for card in self._order(self._masks):
            start = lowest_start(self._masks[card], profile)
            if start is not None:
                self._held[number] = card, span(start, profile.size)
                self._masks[card] |= span(start, profile.size)
                return True
        return False

    def remove(self, number: int) -> None:
        card, piece = self._held.pop(number)
        self._masks[card] &= ~piece


def lowest_start(mask: int, profile: MigProfile) -> int | None:
    return next((start for start in profile.starts if not mask & span(start, profile.size)), None)


def by_number(masks: list[int]) -> Iterable[int]:
    return range(len(masks))


def fullest_first(masks: list[int]) -> Iterable[int]:
    return sorted(range(len(masks)), key=lambda card: (-masks[card].bit_count(), card))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--cards", type=int, default=100)
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--json", action="store_true", help="print one JSON object on the last line")
    args = parser.parse_args()
    results = {name: _compare(mix, args.cards, args.seeds) for name, mix in MIXES.items()}
    for name, shares in results.items():
        print(name, shares)
    if args.json:
        print(json.dumps(results))


def _compare(mix: tuple[int, ...], cards: int, seeds: int) -> dict[str, float]:
    rules: dict[str, Callable[[], Rule]] = {
        "first_fit": lambda: ByMask(cards, by_number),
        "fullest": lambda: ByMask(cards, fullest_first),
        "plstack": lambda: ByEngine(cards, mix),
    }
    runs = [draw(mix, cards, seed) for seed in range(seeds)]
    return {
        name: round(float(np.mean([run(make(), asked, cards) for asked in runs])), 4) for name, make in rules.items()
    }


if __name__ == "__main__":
    main()
