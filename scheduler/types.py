"""The scheduler's input: plain frozen data.

Units: CPU in milli-cores, memory in MiB, accelerator compute in milli-cards (1000 = one whole card),
times in seconds on the caller's own clock (only differences and order matter).
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum

WHOLE_MILLI = 1000
ANY_MODEL = "*"


class Mode(StrEnum):
    """How a card is allocated. A card is in exactly one mode."""

    WHOLE = "whole"
    SHARED = "shared"  # several tasks of one organisation, without isolation
    VGPU = "vgpu"  # memory and compute limited by software
    MIG = "mig"  # hardware partitions


class QueueLevel(StrEnum):
    ORGANISATION = "organisation"
    DEPARTMENT = "department"
    USER = "user"


@dataclass(frozen=True, slots=True)
class MigProfile:
    """One profile a card offers: memory-slice starts, their size, and the compute slices it uses."""

    name: str
    starts: tuple[int, ...]
    size: int
    compute: int
    memory_mib: int
    maximum: int


@dataclass(frozen=True, slots=True)
class Device:
    """An accelerator card. `share_milli` is what shared mode may allocate (>1000 oversubscribes).

    `near`: how far other cards of the node are, by their ids, in any unit that grows with the distance (below 1000).
    """

    id: str
    index: int
    vendor: str
    model: str
    memory_mib: int
    mode: Mode = Mode.WHOLE
    healthy: bool = True
    mig_profiles: tuple[MigProfile, ...] | None = None  # what the node discovered; wins over the built-in table
    share_milli: int = WHOLE_MILLI
    near: tuple[tuple[str, int], ...] = ()


@dataclass(frozen=True, slots=True)
class Node:
    """Capacity for workloads (what the machine has, less what the platform reserves for itself).

    `joined`: members of a gang here reach members on the other joined nodes of the zone. One that is not joined takes
    a gang as a whole or not at all. `reserved`: its cluster takes only tasks that are entitled to it. `rdma`: the
    fabric of its RDMA devices, "" without any; members of a gang that asks for RDMA reach each other within one.
    `rdma_active`: one of their links is up, without which nothing that asks for RDMA starts here.
    """

    id: str
    zone: str
    cluster: str
    cpu_milli: int
    memory_mib: int
    devices: tuple[Device, ...] = ()
    schedulable: bool = True
    healthy: bool = True
    arch: str = "x86_64"
    topology: tuple[str, ...] = ()  # widest to narrowest domain inside the zone, e.g. ("row-1", "rack-7")
    joined: bool = True
    reserved: bool = False
    rdma: str = ""
    rdma_active: bool = True


@dataclass(frozen=True, slots=True)
class GpuRequest:
    """`count` cards or slices for one member, all on one node, on distinct cards.

    whole: core_milli and memory_mib are ignored. shared and vgpu: both are claimed on every card.
    mig: `profile` names the partition. vgpu: `profile` may name a vendor's template, which wins over the numbers.
    """

    mode: Mode
    count: int = 1
    model: str | None = None
    core_milli: int = WHOLE_MILLI
    memory_mib: int = 0
    profile: str | None = None
    any_of: tuple[str, ...] = ()  # acceptable models, if there are several

    def accepts(self, model: str) -> bool:
        """Whether a card of this model is acceptable."""
        return self.model in (None, model) and (not self.any_of or model in self.any_of)


@dataclass(frozen=True, slots=True)
class Gang:
    """`size` equal members start together; an elastic gang may start with `minimum`.

    `one_node`: all of them on the same node, whatever joins the nodes.
    """

    size: int
    minimum: int | None = None
    one_node: bool = False


@dataclass(frozen=True, slots=True)
class Task:
    """A workload that waits or runs. Resources are per member when it is a gang. Priority 5 is highest.

    `stated_s`: how long its owner expects it to run. `limit_s`: the caller ends it after so long, whatever it does.
    `unproven`: nothing but the owner's word stands behind its estimates, which are shown, but decide nothing.
    `entitled`: the reserved clusters that it may use, sorted, so that equal rights are equal requests. `rdma`: each
    member uses its node's RDMA devices, which it shares with others, so they are not counted.
    """

    id: str
    organisation: str
    department: str
    user: str
    priority: int
    submitted_at: float
    cpu_milli: int
    memory_mib: int
    gpu: GpuRequest | None = None
    zone: str | None = None
    cluster: str | None = None
    preemptible: bool = False
    estimate_p50_s: float | None = None
    estimate_p90_s: float | None = None
    gang: Gang | None = None
    min_runtime_s: float = 0.0
    archs: tuple[str, ...] = ()  # acceptable architectures of the node; empty: any
    stated_s: float | None = None
    limit_s: float | None = None
    unproven: bool = False
    requeued: bool = False  # lost its node through no fault of its own: goes first within its priority
    spread: str | None = None  # tasks of one name go to different nodes as far as there is room; single members only
    entitled: tuple[str, ...] = ()
    rdma: bool = False


@dataclass(frozen=True, slots=True)
class Slice:
    """A piece of one card."""

    device_id: str
    memory_mib: int
    core_milli: int
    mig_start: int | None = None
    mig_profile: str | None = None


@dataclass(frozen=True, slots=True)
class Running:
    """One placed member. `held_for` is set while it is leaving for another task."""

    task: Task
    attempt_id: str
    node_id: str
    slices: tuple[Slice, ...]
    started_at: float
    last_checkpoint_at: float | None = None
    member: int = 0
    held_for: str | None = None


@dataclass(frozen=True, slots=True)
class Amount:
    """A bundle of resources; `gpu_milli` by model, ANY_MODEL for all models together."""

    cpu_milli: int | None = None
    memory_mib: int | None = None
    gpu_milli: Mapping[str, int] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Queue:
    """One part of the tree organisation > department > user. None in `limit` means no limit.

    `decayed_usage`: what was held lately by resource (ANY_MODEL in milli-cards, `cpu_milli`, `memory_mib`), times the
    seconds it was held, with a half-life of seven days; maintained by the caller.
    """

    level: QueueLevel
    id: str
    organisation: str
    parent: str = ""  # the department above it; "" means directly under the organisation
    weight: float = 1.0
    guarantee: Amount = Amount()
    limit: Amount = Amount()
    decayed_usage: Mapping[str, float] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class MixEntry:
    """A kind of task and the share of all tasks that are of this kind."""

    cpu_milli: int
    gpu: GpuRequest | None
    share: float


@dataclass(frozen=True, slots=True)
class Mix:
    """The typical mix of tasks against which fragmentation is measured; shares add up to 1."""

    entries: tuple[MixEntry, ...]


@dataclass(frozen=True, slots=True)
class Snapshot:
    """The input of one pass. `holds`: by waiting task, the nodes that were emptied for it.

    `promised`: by waiting task, the `reserved_nodes` of its last Wait, in the order of those waits.
    """

    nodes: tuple[Node, ...]
    running: tuple[Running, ...] = ()
    waiting: tuple[Task, ...] = ()
    queues: tuple[Queue, ...] = ()
    mix: Mix | None = None
    holds: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    promised: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
