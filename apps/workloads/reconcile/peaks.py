"""The most that a program has used, kept up with each look at it."""

from typing import Any, TypeVar

from apps.workloads.drivers.base import Observation
from apps.workloads.models import Observed

PEAKS = ("peak_memory_mib", "peak_cpu_milli", "peak_gpu_memory_mib", "peak_gpu_util_pct")
N = TypeVar("N", int, float)


def peak_columns(program: Observed, seen: Observation) -> dict[str, Any]:
    """The program's columns after this look; what was not measured leaves them as they are."""
    use = seen.usage
    memory = _most(program.peak_memory_mib, use.memory_mib if use else None)
    return {
        # The driver's own peak lies between the looks, too.
        "peak_memory_mib": _most(memory, seen.peak_memory_mib),
        "peak_cpu_milli": _most(program.peak_cpu_milli, use.cpu_milli if use else None),
        "peak_gpu_memory_mib": _most(program.peak_gpu_memory_mib, use.gpu_fullest_mib if use else None),
        "peak_gpu_util_pct": _most(program.peak_gpu_util_pct, use.gpu_util_pct if use else None),
    }


def _most(before: N | None, now: N | None) -> N | None:
    return max((value for value in (before, now) if value is not None), default=None)
