"""Whether backlogged tenants get what their weights and guarantees say.

Method: tenants whose queues never empty, jobs of 1 to 8 cards and 10 to 60 minutes, on one cluster, replayed through
the platform's own pass (run times known, no pre-emption). Jain's index is over GPU-seconds per unit of weight
in the time before any queue empties, the first hour left out. A guarantee is violated where a tenant that always has
work holds less than its guarantee, less 2 %, on average over that time.

    python -m benchmarks.fairness --tenants 6 --gpus 64 --json
"""

import argparse
import json
from collections import defaultdict

import numpy as np

from scheduler.rules import Rules
from scheduler.simulate import Arrival, Record, simulate
from scheduler.types import Amount, Device, GpuRequest, Mode, Node, Queue, QueueLevel, Task

HOURS, WARM_UP_S = 6.0, 3600.0
RULES = Rules(explain_holders=0, explain_alternatives=0)
MODEL = "A100"


def nodes(gpus: int) -> list[Node]:
    made = []
    for index in range(gpus // 8):
        cards = tuple(Device(f"n{index}/{card}", card, "", MODEL, 0) for card in range(8))
        made.append(Node(f"n{index}", "", "", 1, 1, cards))
    return made


def backlog(tenants: int, gpus: int, seed: int) -> list[Arrival]:
    """Everything is there at the start: twice each tenant's equal share of the time that is looked at."""
    random = np.random.default_rng(seed)
    arrivals = []
    for tenant in range(tenants):
        work, number = 0.0, 0
        while work < 2.0 * HOURS * 3600 * gpus / tenants:
            cards, run_s = int(random.choice([1, 1, 1, 2, 4, 8])), float(random.integers(600, 3600))
            arrivals.append(Arrival(_job(f"t{tenant}", number, cards, run_s), run_s))
            work, number = work + cards * run_s, number + 1
    return arrivals


def _job(tenant: str, number: int, cards: int, run_s: float) -> Task:
    gpu = GpuRequest(Mode.WHOLE, cards)
    name = f"{tenant}-{number:05d}"
    return Task(name, tenant, "", "", 3, 0.0, 0, 0, gpu, estimate_p50_s=run_s, estimate_p90_s=run_s)


def tenancy(tenants: int, gpus: int) -> tuple[Queue, ...]:
    """Equal weights; the first two tenants are promised a quarter of the cluster each."""
    promise = Amount(gpu_milli={MODEL: gpus * 250})
    return tuple(
        Queue(QueueLevel.ORGANISATION, f"t{t}", f"t{t}", guarantee=promise if t < 2 else Amount())
        for t in range(tenants)
    )


def held(records: tuple[Record, ...], start: float, end: float) -> dict[str, float]:
    """GPU-seconds per tenant within the window."""
    total: defaultdict[str, float] = defaultdict(float)
    for record in records:
        overlap = min(record.ended_at, end) - max(record.started_at, start)
        cards = record.task.gpu.count if record.task.gpu else 0
        total[record.task.organisation] += max(0.0, overlap) * cards
    return dict(total)


def window_end(records: tuple[Record, ...]) -> float:
    """When the first queue empties."""
    last: defaultdict[str, float] = defaultdict(float)
    for record in records:
        last[record.task.organisation] = max(last[record.task.organisation], record.started_at)
    return min(last.values())


def jain(values: list[float]) -> float:
    """Jain, Chiu and Hawe, 1984: 1 when all are equal, 1/n when one has all."""
    return sum(values) ** 2 / (len(values) * sum(v * v for v in values))


def measure(tenants: int, gpus: int, seed: int, queues: tuple[Queue, ...]) -> tuple[dict[str, float], float]:
    """(GPU-seconds by tenant, seconds looked at)."""
    report = simulate(nodes(gpus), backlog(tenants, gpus, seed), queues, RULES, pass_every_s=60.0)
    end = window_end(report.records)
    return held(report.records, WARM_UP_S, end), end - WARM_UP_S


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--tenants", type=int, default=6)
    parser.add_argument("--gpus", type=int, default=64)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--json", action="store_true", help="print one JSON object on the last line")
    args = parser.parse_args()
    equal, _ = measure(args.tenants, args.gpus, args.seed, ())
    promised, seconds = measure(args.tenants, args.gpus, args.seed, tenancy(args.tenants, args.gpus))
    guaranteed = [promised[f"t{t}"] / (seconds * args.gpus) for t in range(2)]
    violations = sum(share < 0.25 * 0.98 for share in guaranteed)
    result = {
        "jain": round(jain(list(equal.values())), 4),
        "guaranteed_shares": [round(share, 4) for share in guaranteed],
        "guarantee_violations": violations,
    }
    print(result)
    if args.json:
        print(json.dumps(result))


if __name__ == "__main__":
    main()
