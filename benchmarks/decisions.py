"""How fast the engine decides: decisions per second, their p50 and p99, memory, growth, and whole passes.

Method: a cluster of 8-card nodes is filled to about 80 %, classes warmed; then tasks of the openb trace's most frequent
kinds arrive and old ones leave, one each, so that the load stays level. A decision is: name the node and the cards, and
take them. A pass is `Engine.plan` over a queue, reservations, pre-emption and explanations included. One process.
All figures but `wall_*` are CPU time of the thread, so that other work on the machine does not count; departures are
included in decisions per second and not in the latencies. Asking for CPU time costs about a microsecond and is part of
the latencies. `wall_p50_ms` and `wall_p99_ms` are what a clock on the wall saw of the same decisions. A cluster of more
than 10,000 nodes is filled with copies of a block of 300 nodes: filling it one by one takes longer than all the rest.
`--card-memory` gives cards a memory and shares a size of it, so that both dimensions are checked and counted.
`--classes` asks for so many different amounts of CPU, each a request class with scores of its own.

    python -m benchmarks.decisions --nodes 1213,9704,50000 --decisions 5000 --json
"""

import argparse
import json
import resource
import time
from collections import deque
from dataclasses import dataclass, replace
from itertools import cycle

import numpy as np

from scheduler.allocator import Allocator
from scheduler.cells import Cells, Claim
from scheduler.demand import demand_of
from scheduler.engine import Engine
from scheduler.mix import mix_of
from scheduler.scorers import ByPotential
from scheduler.types import Device, GpuRequest, Mode, Node, Queue, QueueLevel, Running, Task

# (cpu_milli, cards, gpu_milli, how often) of the trace's most frequent kinds.
KINDS = (
    (3152, 1, 810, 1047),
    (11300, 1, 1000, 874),
    (11400, 1, 1000, 599),
    (3152, 1, 1000, 470),
    (11908, 1, 470, 388),
    (12500, 0, 0, 366),
    (8000, 1, 470, 360),
    (12000, 1, 1000, 326),
    (32000, 0, 0, 290),
    (18708, 1, 1000, 255),
    (4000, 1, 320, 232),
    (88000, 8, 1000, 18),
    (24000, 2, 1000, 16),
    (48000, 4, 1000, 15),
)
LEVEL = 0.8
MOST_FILLED = 10_000  # nodes; larger clusters are filled with copies of a block
BLOCK = 300  # a multiple of the number of models


def make_nodes(count: int, card_memory_mib: int = 0) -> list[Node]:
    models = ("A100", "T4", "V100")
    return [_node(f"n{index:05d}", models[index % len(models)], card_memory_mib) for index in range(count)]


def _node(name: str, model: str, memory_mib: int) -> Node:
    cards = tuple(Device(f"{name}/{index}", index, "nvidia", model, memory_mib, Mode.VGPU) for index in range(8))
    return Node(name, "z", "c", 96000, 786432, cards)


def make_tasks(count: int, seed: int, card_memory_mib: int = 0, classes: int = 0) -> list[Task]:
    """Tasks of the kinds above. `classes` spreads their CPU so that there are about so many request classes."""
    random = np.random.default_rng(seed)
    often = np.array([kind[3] for kind in KINDS], float)
    picks = random.choice(len(KINDS), count, p=often / often.sum())
    extra = random.integers(0, max(1, classes // len(KINDS)), count) * 10
    return [
        _task(index, KINDS[pick][0] + int(more), *KINDS[pick][1:3], card_memory_mib)
        for index, (pick, more) in enumerate(zip(picks, extra, strict=True))
    ]


def _task(index: int, cpu: int, cards: int, milli: int, card_memory_mib: int) -> Task:
    whole = milli >= 1000
    memory = 0 if whole else card_memory_mib * milli // 1000 // (1 + index % 2)
    gpu = GpuRequest(Mode.WHOLE if whole else Mode.VGPU, cards, None, milli, memory) if cards else None
    organisation, user = f"org-{index % 20:02d}", f"user-{index % 200:03d}"
    base = Task(f"t{index:06d}", organisation, "", user, 1 + index % 5, float(index), cpu, 4096, gpu)
    return replace(base, estimate_p50_s=3600.0, estimate_p90_s=7200.0, preemptible=index % 2 == 0)


@dataclass(frozen=True, slots=True)
class Latency:
    """Seconds per decision."""

    cpu: list[float]
    wall: list[float]

    def figures(self) -> dict[str, float]:
        """p50 and p99 in milliseconds."""
        return {
            f"{prefix}p{q}_ms": round(float(np.percentile(times, q)) * 1000, 3)
            for prefix, times in (("", self.cpu), ("wall_", self.wall))
            for q in (50, 99)
        }


def single_decisions(nodes: list[Node], tasks: list[Task], count: int) -> dict[str, float]:
    cells = Cells(nodes)
    allocator = Allocator(cells, ByPotential(cells, mix_of(tasks)))
    held = fill(allocator, tasks, int(cells.core.sum() * LEVEL)) if len(nodes) <= MOST_FILLED else repeat(cells, tasks)
    demands = dict.fromkeys(demand_of(task) for task in tasks)
    began = time.thread_time()
    Allocator(cells, allocator.scorer).warm(demands)
    warming = time.thread_time() - began
    allocator.warm(demands)
    latency, cpu_s = decide(allocator, tasks, held, count)
    return {
        "decisions_per_s": round(count / cpu_s),
        **latency.figures(),
        "classes": len(demands),
        "first_touch_ms": round(warming / len(demands) * 1000, 3),
    }


def decide(allocator: Allocator, tasks: list[Task], held: deque[Claim], count: int) -> tuple[Latency, float]:
    """One leaves, one comes, `count` times. CPU seconds of it all, measured without looking at each decision."""
    began = time.thread_time()
    for _, task in zip(range(count), cycle(tasks)):
        allocator.undo([held.popleft()])
        _place(allocator, task, held)
    cpu_s = time.thread_time() - began
    latency = Latency([], [])
    for _, task in zip(range(count), cycle(tasks)):
        allocator.undo([held.popleft()])
        wall, cpu = time.perf_counter(), time.thread_time()
        _place(allocator, task, held)
        latency.cpu.append(time.thread_time() - cpu)
        latency.wall.append(time.perf_counter() - wall)
    return latency, cpu_s


def _place(allocator: Allocator, task: Task, held: deque[Claim]) -> None:
    claim = allocator.best_claim(demand_of(task), task.organisation)
    if claim is not None:
        allocator.commit(claim)
        held.append(claim)


def fill(allocator: Allocator, tasks: list[Task], milli: int) -> deque[Claim]:
    held: deque[Claim] = deque()
    for task in cycle(tasks):
        claim = allocator.best_claim(demand_of(task), task.organisation)
        if claim is None or milli <= 0:
            return held
        allocator.commit(claim)
        held.append(claim)
        milli -= sum(piece.core_milli for piece in claim.slices)
    return held


def repeat(cells: Cells, tasks: list[Task]) -> deque[Claim]:
    """Fill the cluster with copies of a filled block of its first nodes. The claims come in an order of chance."""
    block = Cells(cells.nodes[:BLOCK])
    patterns: list[list[Claim]] = [[] for _ in range(BLOCK)]
    for claim in fill(Allocator(block, ByPotential(block, mix_of(tasks))), tasks, int(block.core.sum() * LEVEL)):
        patterns[claim.row].append(claim)
    held = [_moved(cells, claim, row) for row in range(len(cells)) for claim in patterns[row % BLOCK]]
    for claim in held:
        cells.take(claim)
    return deque(held[index] for index in np.random.default_rng(3).permutation(len(held)))


def _moved(cells: Cells, claim: Claim, row: int) -> Claim:
    """The same claim on the same cards of another node of the same model."""
    columns = {card.id: column for column, card in enumerate(cells.cards[claim.row])}
    slices = tuple(replace(s, device_id=cells.cards[row][columns[s.device_id]].id) for s in claim.slices)
    return replace(claim, row=row, slices=slices)


def whole_pass(nodes: list[Node], queued: int) -> dict[str, float]:
    """A full cluster, `queued` tasks of twenty organisations behind it, half of what runs pre-emptible."""
    tasks = make_tasks(queued + 20 * len(nodes), seed=2)
    engine = Engine(nodes, mix=mix_of(tasks))
    queues = [Queue(QueueLevel.ORGANISATION, f"org-{i:02d}", f"org-{i:02d}") for i in range(20)]
    filling = engine.plan(tasks[queued:], 0.0, queues)
    by_id = {task.id: task for task in tasks}
    engine.start(
        Running(by_id[p.task_id], p.task_id, p.node_id, p.slices, 0.0, member=p.member) for p in filling.places
    )
    started = time.thread_time()
    plan = engine.plan(tasks[:queued], 600.0, queues)
    seconds = time.thread_time() - started
    return {"pass_s": round(seconds, 3), "placed": len(plan.places), "waiting": len(plan.waits)}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--nodes", type=lambda text: [int(part) for part in text.split(",")], default=[1213, 9704])
    parser.add_argument("--decisions", type=int, default=5000)
    parser.add_argument("--queued", type=int, default=2000, help="length of the queue in the pass; 0 for no pass")
    parser.add_argument("--card-memory", type=int, default=0, help="MiB of each card")
    parser.add_argument("--classes", type=int, default=0, help="number of request classes, about")
    parser.add_argument("--json", action="store_true", help="print one JSON object on the last line")
    args = parser.parse_args()
    tasks = make_tasks(20_000, 1, args.card_memory, args.classes)
    results = {}
    for count in args.nodes:
        nodes = make_nodes(count, args.card_memory)
        results[str(count)] = single_decisions(nodes, tasks, args.decisions)
        if args.queued:
            results[str(count)] |= whole_pass(nodes, args.queued)
        print(count, results[str(count)])
    peak_mib = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024
    print(f"peak memory {peak_mib} MiB")
    if args.json:
        print(json.dumps({"nodes": results, "peak_memory_mib": peak_mib}))


if __name__ == "__main__":
    main()
