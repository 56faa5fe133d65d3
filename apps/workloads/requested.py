"""From a spec to the scheduler's task: what is asked for, whoever asks."""

import scheduler
from apps.workloads.spec import Gpu, Spec


def make_task(
    spec: Spec,
    *,
    id: str,
    organisation: str,
    department: str,
    user: str,
    priority: int,
    submitted_at: float,
    requeued: bool = False,
    min_runtime_s: float = 0.0,
) -> scheduler.Task:
    """The scheduler's view of a spec; `submitted_at` in seconds since the epoch, on the database's clock."""
    return scheduler.Task(
        id=id,
        organisation=organisation,
        department=department,
        user=user,
        priority=priority,
        submitted_at=submitted_at,
        cpu_milli=spec.cpu_milli,
        memory_mib=spec.memory_mib,
        gpu=_gpu(spec.gpu),
        zone=spec.zone,
        cluster=spec.cluster,
        preemptible=spec.preemptible,
        min_runtime_s=min_runtime_s,
        requeued=requeued,
    )


def _gpu(gpu: Gpu | None) -> scheduler.GpuRequest | None:
    if gpu is None:
        return None
    return scheduler.GpuRequest(
        mode=scheduler.Mode(gpu.mode),
        count=gpu.count,
        model=gpu.model,
        core_milli=gpu.core_milli,
        memory_mib=gpu.memory_mib,
        profile=gpu.profile,
        any_of=gpu.any_of,
    )
