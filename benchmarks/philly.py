"""How long jobs wait and take on Microsoft's Philly trace (2017, 82,247 jobs), under different queue rules.

Method: `--gpus` cards in nodes of 8; a job takes whole cards, on one node for 8 or fewer, else full nodes of 8
as a gang. Jobs arrive at their time stamp and run for their recorded duration. fifo: strict order of arrival. easy:
EASY backfill with one reservation. greedy: whoever fits, in order of arrival. plstack: the platform's own pass, virtual
clusters as organisations of equal weight. No pre-emption. Durations are never known in advance: easy and plstack use
quantiles of the jobs that ended before (`scheduler.estimate`). Passes run at most once per `--every` seconds.

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

CARDS = 8
LARGE = 8
RULES = Rules(patience=2.0, reservations=8, explain_holders=0, explain_alternatives=0)


class QueueRule(StrEnum):
    FIFO = "fifo"
    EASY = "easy"
    GREEDY = "greedy"
    PLSTACK = "plstack"


def load(path: Path) -> list[Arrival]:
    with path.open(newline="") as file:
        rows = list(csv.DictReader(file))
    arrivals = [_arrival(index, row) for index, row in enumerate(rows)]
    return sorted((a for a in arrivals if a is not None), key=lambda a: (a.task.submitted_at, a.task.id))


def _arrival(index: int, row: dict[str, str]) -> Arrival | None:
    count, run_s = int(float(row["num_gpus"])), float(row["duration"])
    if count < 1:
        return None
    at = datetime.fromisoformat(row["timestamp"]).replace(tzinfo=UTC).timestamp()
    size = -(-count // CARDS)
    gang = Gang(size) if size > 1 else None
    gpu = GpuRequest(Mode.WHOLE, CARDS if gang else count)
    return Arrival(Task(f"job-{index:06d}", row["cluster"], "", "", 3, at, 0, 0, gpu, gang=gang), run_s)


def nodes(gpus: int) -> list[Node]:
    made = []
    for index in range(gpus // CARDS):
        cards = tuple(Device(f"n{index:03d}/{card}", card, "", "P100", 0) for card in range(CARDS))
        made.append(Node(f"n{index:03d}", "", "", 1, 1, cards))
    return made


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
        "wait_8plus_h": round(float(wait[large].mean()), 3),
        "jobs": len(report.records),
        "never_started": len(report.never_started),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--trace", type=Path, required=True)
    parser.add_argument("--gpus", type=int, default=640)
    parser.add_argument("--policy", type=QueueRule, choices=list(QueueRule), default=QueueRule.PLSTACK)
    parser.add_argument("--every", type=float, default=600.0, help="seconds between passes, at least")
    parser.add_argument("--jobs", type=int, default=None, help="only the first so many jobs")
    parser.add_argument("--json", action="store_true", help="print one JSON object on the last line")
    args = parser.parse_args()
    started = time.perf_counter()
    arrivals = load(args.trace)[: args.jobs]
    arrivals = arrivals if args.policy is QueueRule.PLSTACK else one_queue(arrivals)
    report = simulate(
        nodes(args.gpus), arrivals, rules=rules_for(args.policy), history=History(), pass_every_s=args.every
    )
    result = {"policy": args.policy.value, **summary(report), "seconds": round(time.perf_counter() - started, 1)}
    print(", ".join(f"{key} {value}" for key, value in result.items()))
    if args.json:
        print(json.dumps(result))


def rules_for(rule: QueueRule) -> Rules:
    if rule is QueueRule.PLSTACK:
        return RULES
    first = 1 if rule is QueueRule.EASY else 0
    return replace(RULES, patience=0.0, reservations=first, in_order=rule is QueueRule.FIFO)


def one_queue(arrivals: list[Arrival]) -> list[Arrival]:
    """All jobs in one queue, so that only arrival counts."""
    return [replace(a, task=replace(a.task, organisation="")) for a in arrivals]


if __name__ == "__main__":
    main()
