"""What a workload used at most, and what it had."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

from apps.billing.models import Package
from apps.workloads.models import Attempt, Workload

# What is set aside above a peak before a smaller package is said to do: between two samples it may have been higher.
MARGIN = 0.15
WHOLE_MILLI = 1000


@dataclass(frozen=True, slots=True)
class Peaks:
    """Over all attempts. `ran_s` of measured running; milli-cores, MiB, MiB on the fullest card.

    `gpu_util_pct`: of what was granted, not of the whole card. None: not measured.
    """

    ran_s: float
    cpu_milli: int | None
    memory_mib: int | None
    gpu_memory_mib: int | None
    gpu_util_pct: float | None

    @property
    def gpu_unused(self) -> bool:
        """Never once seen at work, though it was watched."""
        return self.gpu_util_pct == 0


def peaks_of(attempts: Sequence[Attempt]) -> Peaks:
    return Peaks(
        ran_s=sum(attempt.ran_for_s or 0.0 for attempt in attempts),
        cpu_milli=max((a.peak_cpu_milli for a in attempts if a.peak_cpu_milli is not None), default=None),
        memory_mib=max((a.peak_memory_mib for a in attempts if a.peak_memory_mib is not None), default=None),
        gpu_memory_mib=max(
            (a.peak_gpu_memory_mib for a in attempts if a.peak_gpu_memory_mib is not None), default=None
        ),
        gpu_util_pct=max((a.peak_gpu_util_pct for a in attempts if a.peak_gpu_util_pct is not None), default=None),
    )


@dataclass(frozen=True, slots=True)
class Size:
    """What a package gives one replica. Of each card or slice: its compute in thousandths, its memory in MiB."""

    cpu_milli: int
    memory_mib: int
    gpu_count: int = 0
    gpu_core_milli: int = 0
    gpu_memory_mib: int = 0


def size_of(package: Package, card_memory_mib: int) -> Size:
    """`card_memory_mib`: of the whole card that the package is a part of."""
    if not package.gpu_count:
        return Size(package.cpu_milli, package.memory_mib)
    core = WHOLE_MILLI if package.gpu_mode == "whole" else package.gpu_core_milli or WHOLE_MILLI
    memory = card_memory_mib if package.gpu_mode == "whole" else package.gpu_memory_mib
    # A slice without a size of its own gets memory in proportion to its compute, as the scheduler does it.
    return Size(
        package.cpu_milli, package.memory_mib, package.gpu_count, core, memory or card_memory_mib * core // WHOLE_MILLI
    )


@dataclass(frozen=True, slots=True)
class Held:
    """What the workload had. `model` and `card_memory_mib` of the cards it was on; "" and 0 without any."""

    size: Size
    model: str = ""
    card_memory_mib: int = 0


def held_by(workload: Workload, attempts: Sequence[Attempt]) -> Held:
    """By its newest attempt that held a card; `attempts` newest first, with their placements."""
    pieces = [piece for attempt in attempts for piece in attempt.placements.all() if piece.accelerator is not None]
    card = pieces[0].accelerator if pieces else None
    if card is None:
        return Held(size_of(workload.package, workload.package.gpu_memory_mib))
    size = size_of(workload.package, card.memory_mib)
    granted = pieces[0].device_memory_mib or size.gpu_memory_mib
    return Held(
        Size(size.cpu_milli, size.memory_mib, size.gpu_count, size.gpu_core_milli, granted), card.model, card.memory_mib
    )


def needs(peaks: Peaks, had: Size) -> Size:
    """What would have been enough, with the margin; never more than it had, since that was enough."""
    compute = None if peaks.gpu_util_pct is None else peaks.gpu_util_pct / 100 * had.gpu_core_milli
    return Size(
        cpu_milli=_enough(peaks.cpu_milli, had.cpu_milli),
        memory_mib=_enough(peaks.memory_mib, had.memory_mib),
        gpu_count=had.gpu_count,
        gpu_core_milli=0 if compute is None else _enough(compute, had.gpu_core_milli),
        gpu_memory_mib=_enough(peaks.gpu_memory_mib, had.gpu_memory_mib),
    )


def _enough(peak: float | None, had: int) -> int:
    """Unmeasured: all of it."""
    return had if peak is None else min(had, math.ceil(peak * (1 + MARGIN)))
