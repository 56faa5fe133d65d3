"""How long a pass takes that takes room back: a full cluster, and tenants that ask for what they were guaranteed.

Method: `--nodes` nodes of eight cards, all held by tenants without a guarantee (tasks of 1 to 8 cards, pre-emptible,
past their minimum run time, some with a checkpoint); `--queued` tasks of tenants with a guarantee that hold nothing
yet, and as many of the others. Each round makes a fresh engine and times `Engine.plan` alone: the whole pass with
turns, search for victims, reservations and explanations. CPU time of the thread and wall clock, median of the rounds.

    python -m benchmarks.reclaim --nodes 1000 --queued 1000 --json
"""

import argparse
import json
import statistics
import time

import numpy as np

from scheduler import Amount, Device, Engine, GpuRequest, Mode, Node, Queue, QueueLevel, Running, Slice, Task

CARDS, NOW, SIZES = 8, 100_000.0, (1, 1, 2, 4, 8)
OWNERS, BORROWERS = ("owner-a", "owner-b"), ("borrower-a", "borrower-b", "borrower-c")


def nodes(count: int) -> list[Node]:
    return [
        Node(
            f"n{n}",
            "z",
            "c",
            128_000,
            1 << 20,
            tuple(Device(f"n{n}/{c}", c, "nvidia", "A100", 81_920) for c in range(CARDS)),
        )
        for n in range(count)
    ]


def task(name: str, organisation: str, cards: int) -> Task:
    gpu = GpuRequest(Mode.WHOLE, cards)
    return Task(name, organisation, "", "u", 3, NOW - 600, 4_000 * cards, 16_384 * cards, gpu, preemptible=True)


def full(count: int, random: np.random.Generator) -> list[Running]:
    """Every card of every node is held by a borrower."""
    running = list[Running]()
    for n in range(count):
        free = CARDS
        while free:
            cards = min(free, int(random.choice(SIZES)))
            who = BORROWERS[int(random.integers(len(BORROWERS)))]
            slices = tuple(Slice(f"n{n}/{CARDS - free + c}", 81_920, 1000) for c in range(cards))
            started = NOW - float(random.integers(1_000, 50_000))
            saved = started + 600 if random.random() < 0.5 else None
            running.append(
                Running(task(f"r{len(running)}", who, cards), f"a{len(running)}", f"n{n}", slices, started, saved)
            )
            free -= cards
    return running


def queues(count: int) -> tuple[Queue, ...]:
    """A third of the cards is guaranteed to each of the two owners."""
    promise = Amount(gpu_milli={"A100": count * CARDS * 1000 // 3})
    owners = (Queue(QueueLevel.ORGANISATION, o, o, guarantee=promise) for o in OWNERS)
    return (*owners, *(Queue(QueueLevel.ORGANISATION, o, o) for o in BORROWERS))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--nodes", type=int, default=1_000)
    parser.add_argument("--queued", type=int, default=1_000)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--json", action="store_true", help="print one JSON object on the last line")
    args = parser.parse_args()
    random = np.random.default_rng(1)
    machines, running = nodes(args.nodes), full(args.nodes, random)
    asked = [
        task(f"w{n}", ((*OWNERS, *BORROWERS)[n % 4] if n % 2 else OWNERS[n % 4 // 2]), int(random.choice(SIZES)))
        for n in range(args.queued)
    ]
    cpu, wall, evicted = [], [], 0
    for _round in range(args.rounds):
        engine = Engine(machines, running)
        began = time.thread_time(), time.monotonic()
        plan = engine.plan(asked, NOW, queues(args.nodes))
        cpu.append(time.thread_time() - began[0])
        wall.append(time.monotonic() - began[1])
        evicted = len(plan.preempts)
    result = {
        "nodes": args.nodes,
        "running": len(running),
        "queued": args.queued,
        "evicted": evicted,
        "cpu_s": round(statistics.median(cpu), 3),
        "wall_s": round(statistics.median(wall), 3),
    }
    print(json.dumps(result) if args.json else result)


if __name__ == "__main__":
    main()
