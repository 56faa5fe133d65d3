"""From a spec to the scheduler's task: what is asked for, whoever asks."""

import scheduler
from apps.workloads.spec import Gpu, Spec

# What is asked to end at its longest run time (`longest_s`) has ended so many seconds later: told late, saved, cleared
# away. All times are in seconds, on the database's clock.
ENDING_S = 360.0


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
    expected_s: float | None = None,
    longest_s: float | None = None,
    spread: str | None = None,
) -> scheduler.Task:
    """The scheduler's view of a spec. `submitted_at`: since the epoch. `expected_s`: as its owner says that it runs."""
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
        archs=spec.archs,
        preemptible=spec.preemptible,
        min_runtime_s=min_runtime_s,
        requeued=requeued,
        stated_s=expected_s,
        limit_s=None if longest_s is None else longest_s + ENDING_S,
        spread=spread,
        gang=_gang(spec),
        rdma=spec.rdma,
    )


def _gang(spec: Spec) -> scheduler.Gang | None:
    if spec.members == 1:
        return None
    # Members with the machine's own network have no network of theirs; simulated ones need none.
    return scheduler.Gang(spec.members, spec.least_members, one_node=spec.network and not spec.simulated)


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
