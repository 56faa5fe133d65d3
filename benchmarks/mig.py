"""How much of a MIG cluster's compute each rule of placement keeps in use.

Method: cards of one model, all in MIG mode. Partitions arrive as a Poisson stream, profiles drawn from a mix, and live
for exponential times; the compute asked for at any time is 120 % of what there is. What does not fit at its arrival is
lost. Share = mean over time of compute slices in use over all compute slices, after a warm-up; the median over seeds,
with the least and the most. Every rule sees the same arrivals. The rules are in `benchmarks.mig_rules`: plstack, the
engine's own; hami, HAMi's order; hami_high_low, HAMi's order before it scored places; fullest, the fullest card and the
lowest start; first_fit, the first card and the lowest start.

    python -m benchmarks.mig --cards 100 --seeds 7 --json
"""

import argparse
import heapq
import json
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from benchmarks.mig_rules import Rule, rules
from scheduler.mig import compute_slices, profiles_of
from scheduler.types import Device, MigProfile, Mode

MODELS = {"H100": 81920, "A100": 40960, "H200": 144384, "A30": 24576}
LOAD = 1.2
# Weights of the profiles without media engines, in the order of the geometry's table.
MIXES: dict[int, dict[str, tuple[int, ...]]] = {
    8: {"uniform": (1, 1, 1, 1, 1, 1), "small": (8, 3, 4, 2, 1, 0), "bimodal": (6, 0, 0, 3, 3, 0)},
    4: {"uniform": (1, 1, 1), "small": (6, 3, 1), "bimodal": (3, 0, 1)},
}
ARRIVALS, WARM_UP = 6000, 2000

Mix = list[tuple[MigProfile, float]]


@dataclass(frozen=True, slots=True)
class Partition:
    """One request: when it arrives, how long it lives (mean time between arrivals = 1)."""

    profile: MigProfile
    arrives: float
    lives: float


def draw(mix: Mix, capacity: int, seed: int) -> list[Partition]:
    """The stream of one seed. `capacity`: compute slices of all cards together."""
    random = np.random.default_rng(seed)
    life = LOAD * capacity / sum(share * profile.compute for profile, share in mix)
    picks = random.choice(len(mix), ARRIVALS, p=[share for _, share in mix])
    times = np.cumsum(random.exponential(1.0, ARRIVALS))
    lives = random.exponential(life, ARRIVALS)
    return [Partition(mix[p][0], float(t), float(d)) for p, t, d in zip(picks, times, lives, strict=True)]


def run(rule: Rule, asked: list[Partition], capacity: int) -> float:
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
    return area / (asked[-1].arrives - asked[WARM_UP].arrives) / capacity


def compare(card: Device, weights: tuple[int, ...], cards: int, seeds: int) -> dict[str, dict[str, float]]:
    """Median, least and most share over the seeds, by rule."""
    plain = [profile for profile in profiles_of(card) if not profile.name.endswith("+me")]
    mix = [(profile, weight / sum(weights)) for profile, weight in zip(plain, weights, strict=True) if weight]
    capacity = compute_slices(card) * cards
    runs = [draw(mix, capacity, seed) for seed in range(seeds)]
    return {name: _spread(make, runs, capacity) for name, make in rules(card, cards, mix).items()}


def _spread(make: Callable[[], Rule], runs: list[list[Partition]], capacity: int) -> dict[str, float]:
    shares = [run(make(), asked, capacity) for asked in runs]
    return {"median": round(float(np.median(shares)), 4), "min": round(min(shares), 4), "max": round(max(shares), 4)}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--cards", type=int, default=100)
    parser.add_argument("--seeds", type=int, default=7)
    parser.add_argument("--model", choices=list(MODELS), default="H100")
    parser.add_argument("--json", action="store_true", help="print one JSON object on the last line")
    args = parser.parse_args()
    card = Device("card", 0, "nvidia", args.model, MODELS[args.model], Mode.MIG)
    mixes = MIXES[4 if args.model == "A30" else 8]
    results = {name: compare(card, weights, args.cards, args.seeds) for name, weights in mixes.items()}
    for name, by_rule in results.items():
        print(name, {rule: share["median"] for rule, share in by_rule.items()})
    if args.json:
        print(json.dumps({"model": args.model, "cards": args.cards, "seeds": args.seeds, "mixes": results}))


if __name__ == "__main__":
    main()
