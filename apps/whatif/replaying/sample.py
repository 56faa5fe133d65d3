"""A week of made-up work for the simulated zone, for platforms that have no past yet. The same on every machine.

Four organisations submit by day and less by night: many short runs on slices and single cards, some of two and four
cards for hours, few of eight for most of a day, as cluster traces show it (Hu et al., SC'21; Weng et al., NSDI'22).
"""

import random
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from functools import cache

from apps.whatif.replaying.traces import Line
from scheduler.replay import Arrival
from scheduler.types import GpuRequest, Mode, Task

START = datetime(2026, 11, 2, tzinfo=UTC)
SPAN = timedelta(days=7)
TASKS = 1_400
SEED = 42
# Name, how much of the work is its own, priorities, share of large work.
ORGANISATIONS = (
    ("Teaching platform", 0.42, (2, 3, 3), 0.2),
    ("Computing laboratory", 0.26, (3, 3, 4, 5), 1.6),
    ("Speech group", 0.18, (2, 3, 4), 1.0),
    ("Imaging centre", 0.14, (3, 4), 1.4),
)
# Kind of card, how often, median hours, spread, whether it counts as large work.
KINDS = (
    (GpuRequest(Mode.MIG, 1, "A100-80G", profile="1g.10gb"), 20, 0.7, 0.9, False),
    (GpuRequest(Mode.MIG, 1, "H100", profile="3g.40gb"), 8, 1.5, 0.9, False),
    (GpuRequest(Mode.VGPU, 1, "A100-80G", 250, 20_480), 10, 1.2, 0.9, False),
    (GpuRequest(Mode.VGPU, 1, "Ascend 910B3", 250, 16_384), 8, 1.5, 0.8, False),
    (GpuRequest(Mode.SHARED, 1, "A30", 125, 3_072), 8, 1.0, 0.7, False),
    (GpuRequest(Mode.WHOLE, 1, "A30"), 14, 1.6, 1.0, False),
    (GpuRequest(Mode.WHOLE, 1, "A100-80G"), 7, 1.8, 1.0, False),
    (GpuRequest(Mode.WHOLE, 1, "H100"), 7, 2.0, 1.0, False),
    (GpuRequest(Mode.WHOLE, 2, "A100-80G"), 2, 2.5, 0.9, True),
    (GpuRequest(Mode.WHOLE, 2, "H100"), 2, 3.0, 0.9, True),
    (GpuRequest(Mode.WHOLE, 4, "A100-80G"), 1, 4.0, 0.7, True),
    (GpuRequest(Mode.WHOLE, 4, "Ascend 910B3"), 2, 4.0, 0.7, True),
)
# Fen an hour of a whole card, as the simulated zone lists them.
PRICES = {"A100-80G": 800, "H100": 1400, "A30": 350, "Ascend 910B3": 600}
BY_DAY, BY_NIGHT = 1.0, 0.25


@cache
def lines() -> tuple[Line, ...]:
    """In order of arrival."""
    chance = random.Random(SEED)  # noqa: S311  the same numbers everywhere are the point
    return tuple(sorted(_made(chance), key=lambda line: (line.arrival.task.submitted_at, line.arrival.task.id)))


def _made(chance: random.Random) -> Iterator[Line]:
    for index in range(TASKS):
        name, _share, priorities, large = chance.choices(ORGANISATIONS, [o[1] for o in ORGANISATIONS])[0]
        kind = chance.choices(KINDS, [k[1] * (large if k[4] else 1.0) for k in KINDS])[0]
        yield _line(chance, index, name, chance.choice(priorities), kind)


def _line(
    chance: random.Random, index: int, name: str, priority: int, kind: tuple[GpuRequest, int, float, float, bool]
) -> Line:
    gpu, _often, hours, spread, _large = kind
    milli = _milli(gpu)
    run_s = min(20 * 3600.0, round(hours * 3600 * chance.lognormvariate(0, spread)) + 30)
    task = Task(
        f"sample-{index:04d}",
        name,
        "",
        f"{name.split()[0].lower()}-{chance.randrange(1, 9)}",
        priority,
        _moment(chance),
        16_000 * milli // 1000,
        65_536 * milli // 1000,
        gpu,
        preemptible=chance.random() < 0.85,
    )
    rate = Decimal(PRICES[gpu.model or ""] * milli) / 1000
    return Line(Arrival(task, run_s, float(chance.randrange(5, 60))), rate)


def _milli(gpu: GpuRequest) -> int:
    """Thousandths of a card; of a MIG slice, sevenths."""
    if gpu.mode is Mode.MIG:
        return int((gpu.profile or "7")[0]) * 1000 // 7
    return gpu.count * (1000 if gpu.mode is Mode.WHOLE else gpu.core_milli)


def _moment(chance: random.Random) -> float:
    """A second of the week, by day four times as likely as by night."""
    while True:
        second = chance.randrange(int(SPAN.total_seconds()))
        day = 8 * 3600 <= second % 86_400 < 22 * 3600
        if chance.random() < (BY_DAY if day else BY_NIGHT):
            return START.timestamp() + second
