"""Summarise one side's report as the figures stored in the scenario's row.

Waits count every task that waited in the span. One that had not started when it gave up, or when the span ended,
counts with the wait so far, a lower bound: leaving it out would flatter the side that starts fewer. What was on its
cards when the span began is not asked to wait and counts for use and money only.
"""

import math
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import timedelta
from decimal import Decimal
from typing import Any

from apps.billing.arithmetic import exact_fen, largest_remainder
from apps.common.money import whole_fen
from apps.whatif.replaying.material import Material
from scheduler.mix import gpu_milli
from scheduler.replay import Fate, Record, Report, Sample

# Upper edges of the histogram's bars, in seconds; the last one is open.
EDGES = (60, 300, 900, 3600, 14400)
LARGE_MILLI = 4000


@dataclass(frozen=True, slots=True)
class Waits:
    """Seconds; None where there is no task."""

    count: int
    mean: float | None
    p50: float | None
    p90: float | None
    longest: float | None


@dataclass(frozen=True, slots=True)
class OfOrganisation:
    key: str
    name: str
    waits: Waits
    evictions: int
    gpu_hours: float
    revenue_fen: int


@dataclass(frozen=True, slots=True)
class Summary:
    """Shares are 0 to 1; None without cards. `series` is per bucket, times in seconds since the epoch."""

    waits: Waits
    large: Waits
    histogram: tuple[int, ...]
    ended: int
    cut: int
    waiting: int
    withdrawn: int
    evictions: int
    allocation: float | None
    fragmentation: float | None
    gpu_hours: float
    revenue_fen: int
    series: Mapping[str, Sequence[float | None]]
    organisations: tuple[OfOrganisation, ...]

    def as_json(self) -> dict[str, Any]:
        return asdict(self)


def summary_of(report: Report, material: Material) -> Summary:
    records = (*report.records, *report.unfinished)
    arrived = [record for record in records if not record.carried]
    waits = [record.wait_s for record in arrived]
    fates = [record.fate for record in records]
    money = revenue(records, material.rates)
    return Summary(
        waits_of(waits),
        waits_of([record.wait_s for record in arrived if cards_milli(record) >= LARGE_MILLI]),
        histogram(waits),
        len(report.records),
        fates.count(Fate.CUT),
        fates.count(Fate.WAITING),
        fates.count(Fate.WITHDRAWN),
        report.evictions,
        _share(report.samples, lambda s: s.used_milli),
        _share(report.samples, lambda s: float(s.fragment_milli)),
        round(report.busy_gpu_s / 3600, 3),
        whole_fen(sum(money.values(), Decimal(0))),
        _series(report.samples),
        _organisations(records, material, money),
    )


def cards_milli(record: Record) -> int:
    """Milli-cards over all members."""
    task = record.task
    return gpu_milli(task.gpu) * (task.gang.size if task.gang else 1)


def waits_of(seconds: Sequence[float]) -> Waits:
    if not seconds:
        return Waits(0, None, None, None, None)
    ordered = sorted(seconds)
    mean = math.fsum(ordered) / len(ordered)
    return Waits(len(ordered), round(mean, 3), _rank(ordered, 0.5), _rank(ordered, 0.9), round(ordered[-1], 3))


def _rank(ordered: Sequence[float], q: float) -> float:
    """The nearest-rank quantile."""
    return round(ordered[max(0, math.ceil(q * len(ordered)) - 1)], 3)


def histogram(seconds: Sequence[float]) -> tuple[int, ...]:
    """How many waits lie below each edge and not below the one before; the last: at or above all."""
    bars = [0] * (len(EDGES) + 1)
    for wait in seconds:
        bars[next((index for index, edge in enumerate(EDGES) if wait < edge), len(EDGES))] += 1
    return tuple(bars)


def revenue(records: Sequence[Record], rates: Mapping[str, Decimal]) -> dict[str, Decimal]:
    """Exact fen by task: metered seconds × price, as billing rates it."""
    return {
        record.task.id: exact_fen(rates[record.task.id], 1, timedelta(seconds=record.ran_s))
        for record in records
        if record.task.id in rates
    }


def _share(samples: Sequence[Sample], of: Any) -> float | None:
    total = sum(sample.total_milli for sample in samples)
    return round(math.fsum(of(sample) for sample in samples) / total, 6) if total else None


def _series(samples: Sequence[Sample]) -> dict[str, list[float | None]]:
    def percent(sample: Sample, milli: float) -> float | None:
        return round(100 * milli / sample.total_milli, 2) if sample.total_milli else None

    return {
        "at": [round(sample.at, 3) for sample in samples],
        "allocation": [percent(sample, sample.used_milli) for sample in samples],
        "fragmentation": [percent(sample, sample.fragment_milli) for sample in samples],
        "waiting": [float(sample.waiting) for sample in samples],
    }


def _organisations(
    records: Sequence[Record], material: Material, money: Mapping[str, Decimal]
) -> tuple[OfOrganisation, ...]:
    """By name. Their whole fen add up to the side's."""
    found: defaultdict[str, list[Record]] = defaultdict(list)
    for record in records:
        found[record.task.organisation].append(record)
    keys = sorted(found, key=lambda key: (material.organisations.get(key, key), key))
    exact = [sum((money.get(r.task.id, Decimal(0)) for r in found[key]), Decimal(0)) for key in keys]
    fen = largest_remainder(exact, whole_fen(sum(exact, Decimal(0))))
    return tuple(
        OfOrganisation(
            key,
            material.organisations.get(key, key),
            waits_of([record.wait_s for record in found[key] if not record.carried]),
            sum(record.evictions for record in found[key]),
            round(math.fsum(record.held_gpu_s for record in found[key]) / 3600, 3),
            amount,
        )
        for key, amount in zip(keys, fen, strict=True)
    )
