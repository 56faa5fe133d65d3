"""What one member asks for, with defaults filled in: the key under which equal requests share their scores."""

from dataclasses import dataclass

from scheduler.amounts import amount
from scheduler.ascend import template
from scheduler.types import WHOLE_MILLI, Device, GpuRequest, Mode, Task

NO_SUCH_TEMPLATE = (1 << 30, 0)


@dataclass(frozen=True, slots=True)
class Demand:
    """A request class. `organisation` is set only where it matters (shared cards serve one at a time)."""

    cpu_milli: int
    memory_mib: int
    gpu: GpuRequest | None = None
    zone: str | None = None
    cluster: str | None = None
    arch: str | None = None
    organisation: str = ""

    @property
    def cards(self) -> int:
        return self.gpu.count if self.gpu else 0


def demand_of(task: Task) -> Demand:
    """The class that a task belongs to."""
    shared = task.gpu is not None and task.gpu.mode is Mode.SHARED
    owner = task.organisation if shared else ""
    return Demand(task.cpu_milli, task.memory_mib, task.gpu, task.zone, task.cluster, task.arch, owner)


def serves(card: Device, gpu: GpuRequest) -> bool:
    """Whether the card is of the model and mode asked for. An idle vGPU card can be given whole."""
    mode_ok = card.mode is gpu.mode or (gpu.mode is Mode.WHOLE and card.mode is Mode.VGPU)
    return mode_ok and gpu.accepts(card.model)


def claim_on(card: Device, gpu: GpuRequest) -> tuple[int, int]:
    """(core_milli, memory_mib) of one piece on this card. MIG is decided by its profile instead.

    A vGPU without a memory size gets memory in proportion to its compute: the limiter needs a number. A template that
    the card does not have takes more than any card has.
    """
    if gpu.mode is Mode.WHOLE:
        return WHOLE_MILLI, amount(card.memory_mib)
    if gpu.mode is Mode.VGPU and gpu.profile:
        return template(card.model, gpu.profile) or NO_SUCH_TEMPLATE
    if gpu.mode is Mode.VGPU and gpu.memory_mib == 0:
        return gpu.core_milli, amount(card.memory_mib) * gpu.core_milli // WHOLE_MILLI
    return gpu.core_milli, gpu.memory_mib


def least_members(task: Task) -> int:
    """How many members must start together: 1 for a task that is no gang."""
    return (task.gang.minimum or task.gang.size) if task.gang else 1
