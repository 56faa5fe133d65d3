"""Check requests: invalid ones get a cause of their own and never reach placement."""

from scheduler.decisions import Cause, CauseCode
from scheduler.types import WHOLE_MILLI, Gang, GpuRequest, Mode, Task

MOST_MEMBERS = 10_000
MOST_CARDS = 10_000
NO_SIZE = 1 << 50


def problem_with(task: Task) -> Cause | None:
    """BAD_REQUEST with the name of the field, or None if the request is valid."""
    field = _bad_field(task) or (_bad_gpu_field(task.gpu) if task.gpu else None)
    return None if field is None else Cause(CauseCode.BAD_REQUEST, {"field": field})


def makes_sense(cpu_milli: int, gpu: GpuRequest | None) -> bool:
    """Whether a kind of task of the mix is valid."""
    return _is_size(cpu_milli) and (gpu is None or _bad_gpu_field(gpu) is None)


def _bad_field(task: Task) -> str | None:
    if not _is_size(task.cpu_milli):
        return "cpu_milli"
    if not _is_size(task.memory_mib):
        return "memory_mib"
    if not 1 <= task.priority <= 5:
        return "priority"
    if task.gang is not None and not 1 <= _least(task.gang) <= task.gang.size <= MOST_MEMBERS:
        return "gang"
    return None


def _is_size(value: float) -> bool:
    """False for negative numbers, NaN, and sizes too large to add up."""
    return 0 <= value < NO_SIZE


def _least(gang: Gang) -> int:
    return gang.size if gang.minimum is None else gang.minimum


def _bad_gpu_field(gpu: GpuRequest) -> str | None:
    if not 1 <= gpu.count <= MOST_CARDS:
        return "gpu.count"
    if gpu.mode is Mode.MIG:
        return None if gpu.profile else "gpu.profile"
    if gpu.mode in (Mode.SHARED, Mode.VGPU) and not 0 < gpu.core_milli <= WHOLE_MILLI:
        return "gpu.core_milli"
    return None if _is_size(gpu.memory_mib) else "gpu.memory_mib"
