"""How long jobs wait and take on Microsoft's Philly trace (2017, 82,247 jobs), under different queue rules.

Method: jobs arrive at their time stamp, take whole cards and run for their recorded duration; a pass runs at every
arrival and end. All rules go through `Engine.plan`, the platform's own pass, and differ in queues and `Rules` only:

- fifo: one queue, strict order of arrival. greedy: one queue, whoever fits, in order of arrival.
- easy: greedy behind one reservation for the first that does not fit (Lifka, 1995).
- plstack: virtual clusters as organisations of equal weight under fair share; a job that has waited longer than
  `Rules.hold_after_s` holds free cards from those behind it. No reservations by prediction: durations here scatter too
  widely for them (a median of minutes, a mean of hours).

No pre-emption. Durations are never known in advance: estimates are quantiles of jobs that ended before
(`scheduler.estimate`), never of the job itself. The known figures for this trace are for `--gpus` cards without nodes,
so the cards are one node here; `--nodes N` spreads them over N nodes instead, and jobs larger than a node become gangs
of whole nodes. Means are over all jobs, hours; "8+" are jobs of eight and more cards.

    python -m benchmarks.philly --trace CSV --gpus 640 --policy plstack --json

Trace: timestamp,duration (s),num_gpus,gpu_time,cluster.
"""

import argparse
import csv
import json
import time
from dataclasses import replace
from datetime import UTC, datetime
from enum import StrEnum
from pathlib import Path

import numpy as np

from scheduler.estimate import History
from scheduler.rules import Rules
from scheduler.simulate import Arrival, Report, simulate
from scheduler.types import Device, Gang, GpuRequest, Mode, Node, Task

LARGE = 8
PLAIN = Rules(reservations=0, holds=0, explain=False)


class QueueRule(StrEnum):
    FIFO = "fifo"
    EASY = "easy"
    GREEDY = "greedy"
    PLSTACK = "plstack"


def load(path: Path, per_node: int) -> list[Arrival]:
    """All jobs in order of arrival, for nodes of so many cards."""
    with path.open(newline="") as file:
        arrivals = [_arrival(index, row, per_node) for index, row in enumerate(csv.DictReader(file))]
    return sorted((a for a in arrivals if a is not None), key=lambda a: (a.task.submitted_at, a.task.id))


def _arrival(index: int, row: dict[str, str], per_node: int) -> Arrival | None:
    count, run_s = int(float(row["num_gpus"])), float(row["duration"])
    if count < 1:
        return None
    at = datetime.fromisoformat(row["timestamp"]).replace(tzinfo=UTC).timestamp()
    gang = Gang(-(-count // per_node)) if count > per_node else None
    gpu = GpuRequest(Mode.WHOLE, per_node if gang else count)
    return Arrival(Task(f"job-{index:06d}", row["cluster"], "", "", 3, at, 0, 0, gpu, gang=gang), run_s)


def cluster(gpus: int, nodes: int) -> list[Node]:
    per_node = gpus // nodes
    cards = [[Device(f"n{n:03d}/{card}", card, "", "P100", 0) for card in range(per_node)] for n in range(nodes)]
    return [Node(f"n{number:03d}", "", "", 1, 1, tuple(devices)) for number, devices in enumerate(cards)]


def rules_for(rule: QueueRule, hold_after_h: float) -> Rules:
    if rule is QueueRule.PLSTACK:
        return replace(PLAIN, holds=Rules().holds, hold_after_s=hold_after_h * 3600)
    return replace(PLAIN, reservations=int(rule is QueueRule.EASY), in_order=rule is QueueRule.FIFO)


def one_queue(arrivals: list[Arrival]) -> list[Arrival]:
    """All jobs in one queue, so that only arrival counts."""
    return [replace(a, task=replace(a.task, organisation="")) for a in arrivals]


def cards_of(task: Task) -> int:
    return (task.gpu.count if task.gpu else 0) * (task.gang.size if task.gang else 1)


def summary(report: Report) -> dict[str, float]:
    """Hours."""
    wait = np.array([record.wait_s for record in report.records]) / 3600
    completion = np.array([record.completion_s for record in report.records]) / 3600
    large = np.array([cards_of(record.task) >= LARGE for record in report.records])
    return {
        "mean_completion_h": round(float(completion.mean()), 3),
        "mean_wait_h": round(float(wait.mean()), 3),
        "wait_8plus_h": round(float(wait[large].mean()), 3) if large.any() else 0.0,
        "jobs": len(report.records),
        "never_started": len(report.never_started),
        "passes": report.passes,
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--trace", type=Path, required=True)
    parser.add_argument("--gpus", type=int, default=640)
    parser.add_argument("--nodes", type=int, default=1, help="spread the cards over so many nodes")
    parser.add_argument("--policy", type=QueueRule, choices=list(QueueRule), default=QueueRule.PLSTACK)
    parser.add_argument("--hold-after", type=float, default=Rules().hold_after_s / 3600, help="hours, plstack only")
    parser.add_argument("--every", type=float, default=0.0, help="seconds between passes, at least")
    parser.add_argument("--jobs", type=int, default=None, help="only the first so many jobs")
    parser.add_argument("--json", action="store_true", help="print one JSON object on the last line")
    args = parser.parse_args()
    began, cpu_began = time.perf_counter(), time.process_time()
    arrivals = load(args.trace, args.gpus // args.nodes)[: args.jobs]
    report = simulate(
        cluster(args.gpus, args.nodes),
        arrivals if args.policy is QueueRule.PLSTACK else one_queue(arrivals),
        rules=rules_for(args.policy, args.hold_after),
        history=History(),
        pass_every_s=args.every,
    )
    took = {"seconds": round(time.perf_counter() - began, 1), "cpu_seconds": round(time.process_time() - cpu_began, 1)}
    result = {"policy": args.policy.value, **summary(report), **took}
    print(", ".join(f"{key} {value}" for key, value in result.items()))
    if args.json:
        print(json.dumps(result))


if __name__ == "__main__":
    main()
