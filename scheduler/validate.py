"""Requests that make no sense get a cause of their own and never reach placement."""

from scheduler.decisions import Cause, CauseCode
from scheduler.types import WHOLE_MILLI, GpuRequest, Mode, Task


def problem_with(task: Task) -> Cause | None:
    """BAD_REQUEST naming the field, or None when the request can be understood."""
    field = _bad_field(task) or (_bad_gpu_field(task.gpu) if task.gpu else None)
    return None if field is None else Cause(CauseCode.BAD_REQUEST, {"field": field})


def _bad_field(task: Task) -> str | None:
    if task.cpu_milli < 0:
        return "cpu_milli"
    if task.memory_mib < 0:
        return "memory_mib"
    if not 1 <= task.priority <= 5:
        return "priority"
    if task.gang is not None and not 1 <= (task.gang.minimum or task.gang.size) <= task.gang.size:
        return "gang"
    return None


def _bad_gpu_field(gpu: GpuRequest) -> str | None:
    if gpu.count < 1:
        return "gpu.count"
    if gpu.mode is Mode.MIG:
        return None if gpu.profile else "gpu.profile"
    if gpu.mode in (Mode.SHARED, Mode.VGPU) and not 0 < gpu.core_milli <= WHOLE_MILLI:
        return "gpu.core_milli"
    return "gpu.memory_mib" if gpu.memory_mib < 0 else None
