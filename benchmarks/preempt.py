"""What pre-emption costs against the cheapest set of victims there is.

Method: random full clusters of `--nodes` nodes of `--cards` cards, held by two organisations with tasks of 1 to 4
cards, of random priority, age and last checkpoint, some not pre-emptible or too young; one task of 1 to 8 cards
waits. The pass (`Engine.plan`) chooses; a search over all sets of lawful victims on each node finds the cheapest,
with the rules of pre-emption written out once more. Cost, in this order: highest victim priority, GPU-seconds since
the last checkpoint, count. `ratio` is the mean of GPU-seconds lost over the least possible, where the highest
priority is the same; `priority_worse` counts cases in which a higher priority than necessary was hit, `missed` those
in which nobody was asked although a lawful set exists, `unlawful` and `needless` those that break the rules. On nodes
of 8 the engine itself tries all sets of up to 12 candidates; nodes of 16 cards show its greedy search.

    python -m benchmarks.preempt --clusters 300 --json
"""

import argparse
import json
from dataclasses import dataclass
from itertools import combinations

import numpy as np

from scheduler import Amount, Device, Engine, GpuRequest, Mode, Node, Queue, QueueLevel, Running, Slice, Task

NOW, MODEL = 100_000.0, "A100"
OURS, OTHER = "ours", "other"


@dataclass(frozen=True, slots=True)
class World:
    nodes: tuple[Node, ...]
    running: tuple[Running, ...]
    asks: Task
    promised: dict[str, int]  # cards by organisation

    @property
    def queues(self) -> tuple[Queue, ...]:
        return tuple(
            Queue(QueueLevel.ORGANISATION, o, o, guarantee=Amount(gpu_milli={MODEL: 1000 * cards}))
            for o, cards in self.promised.items()
        )


@dataclass(frozen=True, slots=True)
class Score:
    """Of one world. `ratio` is lost GPU-seconds over the least possible; None where nobody is or need be asked."""

    ratio: float | None = None
    priority_worse: bool = False
    missed: bool = False
    unlawful: bool = False
    needless: bool = False


def world(seed: int, nodes: int, width: int) -> World:
    random = np.random.default_rng(seed)
    members: list[Running] = []
    for name in (f"n{n}" for n in range(nodes)):
        at = 0
        while at < width:
            cards = min(width - at, int(random.choice([1, 1, 1, 2, 2, 4])))
            members.append(_member(random, name, range(at, at + cards), len(members)))
            at += cards
    asks = _task("asks", OURS, int(random.integers(2, 6)), int(random.choice([1, 2, 4, 8])), preemptible=True)
    made = tuple(_node(f"n{n}", width) for n in range(nodes))
    total = nodes * width
    return World(made, tuple(members), asks, {OURS: int(random.integers(0, total)), OTHER: total // 3})


def _node(name: str, width: int) -> Node:
    cards = tuple(Device(f"{name}/{card}", card, "", MODEL, 0) for card in range(width))
    return Node(name, "", "", 1, 1, cards)


def _member(random: np.random.Generator, node: str, cards: range, number: int) -> Running:
    organisation = OURS if random.random() < 0.5 else OTHER
    task = _task(f"t{number}", organisation, int(random.integers(1, 6)), len(cards), bool(random.random() < 0.8))
    started = NOW - float(random.integers(100, 50_000))
    saved = started + float(random.random()) * (NOW - started) if random.random() < 0.5 else None
    slices = tuple(Slice(f"{node}/{card}", 0, 1000) for card in cards)
    return Running(task, task.id, node, slices, started, saved)


def _task(name: str, organisation: str, priority: int, cards: int, preemptible: bool) -> Task:
    gpu = GpuRequest(Mode.WHOLE, cards)
    return Task(name, organisation, "", "", priority, 0.0, 0, 0, gpu, preemptible=preemptible, min_runtime_s=600.0)


def lost(member: Running) -> float:
    since = member.started_at if member.last_checkpoint_at is None else member.last_checkpoint_at
    return len(member.slices) * (NOW - since)


def cost(chosen: tuple[Running, ...]) -> tuple[int, float, int]:
    return max(m.task.priority for m in chosen), round(sum(map(lost, chosen)), 3), len(chosen)


def lawful(case: World, chosen: tuple[Running, ...]) -> bool:
    """The rules of pre-emption, written out once more."""
    used = {o: sum(len(m.slices) for m in case.running if m.task.organisation == o) for o in case.promised}
    others = [m for m in chosen if m.task.organisation == OTHER]
    if any(not m.task.preemptible or NOW - m.started_at < m.task.min_runtime_s for m in chosen):
        return False
    if any(m.task.priority >= case.asks.priority for m in chosen if m.task.organisation == OURS):
        return False
    inside = used[OURS] + cards_of(case.asks) <= case.promised[OURS]
    return not others or (inside and used[OTHER] - sum(len(m.slices) for m in others) >= case.promised[OTHER])


def cards_of(task: Task) -> int:
    return task.gpu.count if task.gpu else 0


def frees_enough(case: World, chosen: tuple[Running, ...]) -> bool:
    return sum(len(m.slices) for m in chosen) >= cards_of(case.asks)


def best(case: World) -> tuple[Running, ...] | None:
    """The cheapest lawful set on any node, by trying all of them."""
    found = [
        chosen
        for node in case.nodes
        for chosen in _sets([m for m in case.running if m.node_id == node.id and lawful(case, (m,))])
        if frees_enough(case, chosen) and lawful(case, chosen)
    ]
    return min(found, key=cost, default=None)


def _sets(members: list[Running]) -> list[tuple[Running, ...]]:
    return [chosen for size in range(1, len(members) + 1) for chosen in combinations(members, size)]


def judge(case: World) -> Score:
    plan = Engine(case.nodes, case.running).plan([case.asks], NOW, case.queues)
    asked = {preempt.task_id for preempt in plan.preempts}
    chosen, cheapest = tuple(m for m in case.running if m.task.id in asked), best(case)
    if not chosen or cheapest is None:
        return Score(missed=cheapest is not None, unlawful=bool(chosen))
    needless = any(frees_enough(case, rest) for rest in combinations(chosen, len(chosen) - 1) if rest)
    ours, least = cost(chosen), cost(cheapest)
    ratio = ours[1] / least[1] if least[1] and ours[0] == least[0] else None
    return Score(ratio, ours[0] > least[0], False, not lawful(case, chosen), needless)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--clusters", type=int, default=300)
    parser.add_argument("--nodes", type=int, default=6)
    parser.add_argument("--cards", type=int, default=8, help="per node")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--json", action="store_true", help="print one JSON object on the last line")
    args = parser.parse_args()
    scores = [judge(world(args.seed * 1_000_000 + n, args.nodes, args.cards)) for n in range(args.clusters)]
    ratios = [score.ratio for score in scores if score.ratio is not None]
    result = {
        "clusters": args.clusters,
        "evictions": len(ratios),
        "ratio": round(float(np.mean(ratios)), 4) if ratios else None,
        "worst_ratio": round(max(ratios), 4) if ratios else None,
        "priority_worse": sum(score.priority_worse for score in scores),
        "missed": sum(score.missed for score in scores),
        "unlawful": sum(score.unlawful for score in scores),
        "needless": sum(score.needless for score in scores),
    }
    print(", ".join(f"{key} {value}" for key, value in result.items()))
    if args.json:
        print(json.dumps(result))


if __name__ == "__main__":
    main()
