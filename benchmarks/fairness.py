"""Whether backlogged tenants get what their weights and guarantees say.

Method: tenants whose queues never empty, jobs of 10 to 60 minutes, replayed through the platform's own pass (run times
known). Where tenants hold guarantees, jobs may be asked to give way after ten minutes, with the platform's notice, as
they may there; elsewhere nobody has a right to anybody's place. Jain's index is over GPU-seconds per unit of weight in
the time before any queue empties, the first hour left out; where tenants hold guarantees, only those without one are
compared. A guarantee is violated where a tenant that always has work holds less than its guarantee, less 2 %, on
average over that time, of any model.

Scenarios: equal weights; weights of 1 to 3; small jobs (one card); large jobs (8 cards, and gangs of 16); many tenants;
guarantees for two of them; two models of card with a guarantee on each.

    python -m benchmarks.fairness --gpus 64 --seeds 1,2 --json
"""

import argparse
import json
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from scheduler.rules import Rules
from scheduler.simulate import Arrival, Record, simulate
from scheduler.types import Amount, Device, Gang, GpuRequest, Mode, Node, Queue, QueueLevel, Task

HOURS, WARM_UP_S, CARDS = 6.0, 3600.0, 8
MIN_RUNTIME_S = 600.0
MIXED = (1, 1, 1, 2, 4, 8)


@dataclass(frozen=True, slots=True)
class Scenario:
    """Weights by tenant, sizes of jobs, models of card, guarantees as (tenant, model) -> share of all cards."""

    weights: Sequence[float] = (1.0,) * 6
    sizes: Sequence[int] = MIXED
    models: Sequence[str] = ("A100",)
    guarantees: Mapping[tuple[int, str], float] = field(default_factory=dict)

    def queues(self, gpus: int) -> tuple[Queue, ...]:
        return tuple(
            Queue(
                QueueLevel.ORGANISATION, f"t{t}", f"t{t}", weight=w, guarantee=Amount(gpu_milli=self._promise(t, gpus))
            )
            for t, w in enumerate(self.weights)
        )

    def _promise(self, tenant: int, gpus: int) -> dict[str, int]:
        return {model: int(share * gpus * 1000) for (t, model), share in self.guarantees.items() if t == tenant}


SCENARIOS = {
    "equal": Scenario(),
    "weights": Scenario(weights=(1.0, 1.0, 2.0, 2.0, 3.0, 3.0)),
    "small_jobs": Scenario(sizes=(1,)),
    "large_jobs": Scenario(weights=(1.0,) * 4, sizes=(8, 8, 16)),
    "many_tenants": Scenario(weights=(1.0,) * 16, sizes=(1, 1, 2, 4)),
    "guarantees": Scenario(guarantees={(0, "A100"): 0.25, (1, "A100"): 0.25}),
    "two_models": Scenario(models=("A100", "T4"), guarantees={(0, "A100"): 0.2, (1, "T4"): 0.3}),
}


def nodes(gpus: int, models: Sequence[str]) -> list[Node]:
    made = []
    for index in range(gpus // CARDS):
        model = models[index % len(models)]
        cards = tuple(Device(f"n{index}/{card}", card, "", model, 0) for card in range(CARDS))
        made.append(Node(f"n{index}", "", "", 1, 1, cards))
    return made


def backlog(scenario: Scenario, gpus: int, seed: int) -> list[Arrival]:
    """Everything is there at the start: for each tenant and model twice what it could get in the time looked at."""
    random = np.random.default_rng(seed)
    total, arrivals = sum(scenario.weights), list[Arrival]()
    for tenant, weight in enumerate(scenario.weights):
        for model in scenario.models:
            promised = scenario.guarantees.get((tenant, model), 0.0)
            work = 2.0 * HOURS * 3600 * gpus * max(weight / total, promised)
            while work > 0:
                cards, run_s = int(random.choice(scenario.sizes)), float(random.integers(600, 3600))
                job = _job(f"t{tenant}", len(arrivals), cards, model, run_s, yields=bool(scenario.guarantees))
                arrivals.append(Arrival(job, run_s))
                work -= cards * run_s
    return arrivals


def _job(tenant: str, number: int, cards: int, model: str, run_s: float, *, yields: bool) -> Task:
    gang = Gang(cards // CARDS) if cards > CARDS else None
    return Task(
        id=f"{tenant}-{number:05d}",
        organisation=tenant,
        department="",
        user="",
        priority=3,
        submitted_at=0.0,
        cpu_milli=0,
        memory_mib=0,
        gpu=GpuRequest(Mode.WHOLE, min(cards, CARDS), model),
        preemptible=yields,
        estimate_p50_s=run_s,
        estimate_p90_s=run_s,
        gang=gang,
        min_runtime_s=MIN_RUNTIME_S,
    )


def held(records: Sequence[Record], start: float, end: float) -> dict[tuple[str, str], float]:
    """GPU-seconds by tenant and model between start and end."""
    total: defaultdict[tuple[str, str], float] = defaultdict(float)
    for record in records:
        gpu = record.task.gpu
        if gpu is not None:
            cards = gpu.count * (record.task.gang.size if record.task.gang else 1)
            seconds = sum(max(0.0, min(end, until) - max(start, since)) for since, until in record.spans)
            total[record.task.organisation, gpu.model or ""] += cards * seconds
    return total


def window_end(records: Sequence[Record]) -> float:
    """When the first queue (of a tenant, for a model) had nothing left to start."""
    last: defaultdict[tuple[str, str], float] = defaultdict(float)
    for record in records:
        key = record.task.organisation, (record.task.gpu.model or "") if record.task.gpu else ""
        last[key] = max(last[key], record.started_at)
    return min(last.values())


def jain(values: Sequence[float]) -> float:
    """1 when all are equal, 1/n when one has all (Jain, Chiu and Hawe, 1984)."""
    return sum(values) ** 2 / (len(values) * sum(v * v for v in values))


def measure(scenario: Scenario, gpus: int, seed: int, rules: Rules) -> tuple[float, int]:
    """(Jain's index, guarantees violated)."""
    report = simulate(
        nodes(gpus, scenario.models),
        backlog(scenario, gpus, seed),
        scenario.queues(gpus),
        rules,
        pass_every_s=60.0,
        keep_use=True,
    )
    end = window_end(report.records)
    got, seconds = held(report.records, WARM_UP_S, end), end - WARM_UP_S
    promised = {tenant for tenant, _ in scenario.guarantees}
    free = [t for t in range(len(scenario.weights)) if t not in promised]
    rates = [sum(got[f"t{t}", model] for model in scenario.models) / scenario.weights[t] for t in free]
    short = [got[f"t{t}", model] < share * gpus * seconds * 0.98 for (t, model), share in scenario.guarantees.items()]
    return jain(rates), sum(short)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--gpus", type=int, default=64)
    parser.add_argument("--seeds", type=lambda text: [int(part) for part in text.split(",")], default=[1, 2])
    parser.add_argument("--scenarios", type=lambda text: text.split(","), default=list(SCENARIOS))
    parser.add_argument("--json", action="store_true", help="print one JSON object on the last line")
    parser.add_argument("--reservations", type=int, default=Rules().reservations)
    args = parser.parse_args()
    rules = Rules(explain=False, reservations=args.reservations)
    scenarios = {}
    for name in args.scenarios:
        found = [measure(SCENARIOS[name], args.gpus, seed, rules) for seed in args.seeds]
        scenarios[name] = {"jain": round(min(j for j, _ in found), 4), "violations": sum(v for _, v in found)}
        print(name, scenarios[name], flush=True)
    result = {
        "jain": min(line["jain"] for line in scenarios.values()),
        "guarantee_violations": sum(line["violations"] for line in scenarios.values()),
        "scenarios": scenarios,
    }
    if args.json:
        print(json.dumps(result))


if __name__ == "__main__":
    main()
