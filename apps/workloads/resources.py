"""What a spec takes, in the terms of quota."""

from apps.tenants.choices import Resource
from apps.workloads.spec import Spec


def quota_amounts(spec: Spec) -> dict[Resource, int]:
    """Amounts that one live workload counts against each level's quota."""
    return {
        Resource.CPU_MILLI: spec.cpu_milli,
        Resource.MEMORY_MIB: spec.memory_mib,
        Resource.GPU_MILLI: spec.gpu_milli,
        Resource.RUNS: 1,
    }
