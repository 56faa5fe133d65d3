"""What a spec takes, in the terms of quota."""

from apps.tenants.choices import Resource
from apps.workloads.choices import Kind
from apps.workloads.spec import Spec

_COUNTED_AS = {Kind.TRAINING: Resource.RUNS, Kind.ENVIRONMENT: Resource.ENVIRONMENTS}


def quota_amounts(spec: Spec, kind: Kind = Kind.TRAINING) -> dict[Resource, int]:
    """Amounts that one live workload of this kind counts against each level's quota."""
    return {
        Resource.CPU_MILLI: spec.cpu_milli,
        Resource.MEMORY_MIB: spec.memory_mib,
        Resource.GPU_MILLI: spec.gpu_milli,
        _COUNTED_AS[kind]: 1,
    }
