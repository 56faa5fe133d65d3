"""What a spec takes, in the terms of quota."""

from uuid import UUID

from apps.tenants.choices import HolderKind, Resource
from apps.tenants.quotas import Amounts, Holder
from apps.workloads import kinds
from apps.workloads.choices import Kind
from apps.workloads.spec import Spec


def quota_amounts(spec: Spec, kind: Kind) -> Amounts:
    """Amounts that one live workload of this kind counts against each level's quota."""
    amounts: dict[Resource | tuple[Resource, str], int] = {
        Resource.CPU_MILLI: spec.cpu_milli * spec.members,
        Resource.MEMORY_MIB: spec.memory_mib * spec.members,
        kinds.named(kind).quota_line: 1,
    }
    return amounts | _cards(spec)


def _cards(spec: Spec) -> dict[Resource | tuple[Resource, str], int]:
    """By model, each that it may get, and once in all."""
    models = spec.gpu.any_of or (spec.gpu.model or "",) if spec.gpu else ("",)
    milli = spec.gpu_milli * spec.members
    amounts: dict[Resource | tuple[Resource, str], int] = {(Resource.GPU_MILLI, model): milli for model in models}
    if len(models) > 1:
        amounts[Resource.GPU_MILLI] = -(len(models) - 1) * milli
    return amounts


def holder_of(workload_id: UUID) -> Holder:
    """The workload in the books of quota."""
    return Holder(HolderKind.WORKLOAD, workload_id)
