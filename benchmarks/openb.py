"""How much of a cluster's GPU capacity each placement rule can hand out, on Alibaba's openb trace (gpu-v2023).

Method (as in "Beware of Fragmentation", ATC'23, section 6): tasks arrive one by one in a given order, inflated past the
capacity of the cluster; nothing departs; a task that fits nowhere is dropped. Share = GPU-milli handed out over
GPU-milli of the cluster. Each seed has its own arrival order and its own order of nodes, which breaks ties.

    python -m benchmarks.openb --nodes CSV --pods CSV --arrivals NPZ --policy plstack --seeds 42,43 --json

Files: nodes sn,cpu_milli,memory_mib,gpu,model; pods name,cpu_milli,memory_mib,num_gpu,gpu_milli,gpu_spec (models
separated by |); arrivals per seed S: `S_pods`, indices into pods, and `S_noderank`, the rank of each node.
The rules are those of the platform's own engine (`scheduler.allocator`); no admission choice, no migration.
"""

import argparse
import csv
import json
import time
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from scheduler.allocator import Allocator
from scheduler.baselines import scorer_for
from scheduler.cells import Cells
from scheduler.demand import demand_of
from scheduler.mix import mix_of
from scheduler.scorers import Policy
from scheduler.types import WHOLE_MILLI, Device, GpuRequest, Mix, Mode, Node, Task


@dataclass(frozen=True, slots=True)
class Outcome:
    allocated_milli: int
    failed: int
    share: float
    seconds: float


def load_nodes(path: Path) -> list[Node]:
    """Cards can be shared or given whole, as in the trace's cluster; the trace knows no card memory."""
    with path.open(newline="") as file:
        return [_node(row) for row in csv.DictReader(file)]


def _node(row: dict[str, str]) -> Node:
    cards = tuple(
        Device(f"{row['sn']}/{index}", index, "", row["model"], 0, Mode.VGPU) for index in range(int(row["gpu"] or 0))
    )
    return Node(row["sn"], "", "", int(row["cpu_milli"]), int(row["memory_mib"]), cards)


def load_tasks(path: Path) -> list[Task]:
    with path.open(newline="") as file:
        return [_task(row) for row in csv.DictReader(file)]


def _task(row: dict[str, str]) -> Task:
    gpu = _request(int(row["num_gpu"] or 0), int(row["gpu_milli"] or 0), row.get("gpu_spec") or "")
    return Task(row["name"], "", "", "", 3, 0.0, int(row["cpu_milli"]), int(row["memory_mib"]), gpu)


def _request(count: int, milli: int, spec: str) -> GpuRequest | None:
    if count == 0:
        return None
    models = tuple(sorted(filter(None, spec.split("|"))))
    if milli >= WHOLE_MILLI:
        return GpuRequest(Mode.WHOLE, count, any_of=models)
    return GpuRequest(Mode.VGPU, count, core_milli=milli, any_of=models)


def replay(nodes: list[Node], tasks: list[Task], order: list[int], mix: Mix, policy: Policy, seed: int) -> Outcome:
    """Place the tasks in this order on the nodes in this order."""
    cells = Cells(nodes)
    allocator = Allocator(cells, scorer_for(policy, cells, mix, seed))
    capacity = int(cells.core.sum())
    started = time.perf_counter()
    demands = [demand_of(task) for task in tasks]
    allocator.warm(dict.fromkeys(demands))
    allocated = failed = 0
    for index in order:
        claim = allocator.best_claim(demands[index], "")
        if claim is None:
            failed += 1
            continue
        allocator.commit(claim)
        allocated += sum(piece.core_milli for piece in claim.slices)
    return Outcome(allocated, failed, allocated / capacity, time.perf_counter() - started)


def run(nodes: list[Node], tasks: list[Task], arrivals: Path, policy: Policy, seeds: list[int]) -> dict[int, Outcome]:
    mix = mix_of(tasks)
    results = {}
    with np.load(arrivals) as stored:
        for seed in seeds:
            ranked = [nodes[index] for index in np.argsort(stored[f"{seed}_noderank"], kind="stable")]
            results[seed] = replay(ranked, tasks, stored[f"{seed}_pods"].tolist(), mix, policy, seed)
    return results


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--nodes", type=Path, required=True)
    parser.add_argument("--pods", type=Path, required=True)
    parser.add_argument("--arrivals", type=Path, required=True)
    parser.add_argument("--policy", type=Policy, choices=list(Policy), default=Policy.PLSTACK)
    parser.add_argument(
        "--seeds", type=lambda text: [int(part) for part in text.split(",")], default=list(range(42, 52))
    )
    parser.add_argument("--json", action="store_true", help="print one JSON object on the last line")
    args = parser.parse_args()
    results = run(load_nodes(args.nodes), load_tasks(args.pods), args.arrivals, args.policy, args.seeds)
    mean = float(np.mean([outcome.share for outcome in results.values()]))
    for seed, outcome in results.items():
        print(f"seed {seed}: {outcome.share:.2%} allocated, {outcome.failed} failed, {outcome.seconds:.1f} s")
    print(f"{args.policy}: mean {mean:.2%}")
    if args.json:
        print(
            json.dumps(
                {"policy": args.policy, "seeds": {str(s): _plain(o) for s, o in results.items()}, "mean_share": mean}
            )
        )


def _plain(outcome: Outcome) -> dict[str, int | float]:
    return {
        "allocated_milli": outcome.allocated_milli,
        "failed": outcome.failed,
        "share": round(outcome.share, 6),
        "seconds": round(outcome.seconds, 3),
    }


if __name__ == "__main__":
    main()
