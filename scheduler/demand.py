"""What one member requests, with defaults filled in: the key under which equal requests share their scores."""

from dataclasses import dataclass

from scheduler.amounts import clean_size
from scheduler.ascend import template_size
from scheduler.mix import gpu_milli
from scheduler.types import WHOLE_MILLI, Device, GpuRequest, Mode, Node, Task

NO_SUCH_TEMPLATE = (1 << 30, 0)


@dataclass(frozen=True, slots=True)
class Demand:
    """A request class. `organisation` is set only where it matters (shared cards serve one at a time).

    `one_node`: the member belongs to a gang whose members must all be on the same node. `entitled`: the reserved
    clusters that it may use. `rdma`: only on nodes with RDMA devices.
    """

    cpu_milli: int
    memory_mib: int
    gpu: GpuRequest | None = None
    zone: str | None = None
    cluster: str | None = None
    archs: tuple[str, ...] = ()
    organisation: str = ""
    one_node: bool = False
    entitled: tuple[str, ...] = ()
    rdma: bool = False

    @property
    def cards(self) -> int:
        return self.gpu.count if self.gpu else 0


def demand_of(task: Task) -> Demand:
    """The class that a task belongs to."""
    shared = task.gpu is not None and task.gpu.mode is Mode.SHARED
    owner = task.organisation if shared else ""
    one_node = task.gang is not None and task.gang.one_node and task.gang.size > 1
    place = task.zone, task.cluster, task.archs
    return Demand(task.cpu_milli, task.memory_mib, task.gpu, *place, owner, one_node, task.entitled, task.rdma)


def may_enter(node: Node, demand: Demand) -> bool:
    """Whether the node's cluster is open to everybody, or reserved for this demand among others."""
    return not node.reserved or node.cluster in demand.entitled


def has_devices(node: Node, demand: Demand) -> bool:
    """Whether the node has the RDMA devices that are asked for, with their links up or down."""
    return bool(node.rdma) or not demand.rdma


def serves(card: Device, gpu: GpuRequest) -> bool:
    """Whether the card is of the model and mode asked for. An idle vGPU card can be given whole."""
    mode_ok = card.mode is gpu.mode or (gpu.mode is Mode.WHOLE and card.mode is Mode.VGPU)
    return mode_ok and gpu.accepts(card.model)


def piece_size(card: Device, gpu: GpuRequest) -> tuple[int, int]:
    """(core_milli, memory_mib) of one piece on this card. MIG is decided by its profile instead.

    A vGPU without a memory size gets memory in proportion to its compute: the limiter needs a number. An unknown
    template returns a size larger than any card.
    """
    if gpu.mode is Mode.WHOLE:
        return WHOLE_MILLI, clean_size(card.memory_mib)
    if gpu.mode is Mode.VGPU and gpu.profile:
        return template_size(card.model, gpu.profile) or NO_SUCH_TEMPLATE
    if gpu.mode is Mode.VGPU and gpu.memory_mib == 0:
        return gpu.core_milli, clean_size(card.memory_mib) * gpu.core_milli // WHOLE_MILLI
    return gpu.core_milli, gpu.memory_mib


def least_members(task: Task) -> int:
    """The number of members that must start together; 1 if the task is not a gang."""
    return (task.gang.minimum or task.gang.size) if task.gang else 1


def takes_as_much(task: Task, promised: Task) -> bool:
    """Whether room for the task would do for the promised one as well: one member, on one card at most."""
    wanted, taken = promised.gpu, task.gpu
    if least_members(promised) > 1 or (wanted is not None and wanted.count > 1):
        return False
    if task.cpu_milli < promised.cpu_milli or task.memory_mib < promised.memory_mib:
        return False
    return gpu_milli(taken) >= gpu_milli(wanted)
