"""The outcome of a scheduling pass: place a member, pre-empt a task, or let it wait, with the cause."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum

from scheduler.types import GpuRequest, Slice


class CauseCode(StrEnum):
    """Why a task waits; exactly one per waiting task."""

    NO_NODES = "no_nodes"
    ZONE = "zone"
    CLUSTER = "cluster"
    RESERVED = "reserved"
    ARCH = "arch"
    RDMA = "rdma"
    NO_SUCH_MODEL = "no_such_model"
    NO_SUCH_MODE = "no_such_mode"
    NEVER_FITS = "never_fits"
    NODE_UNSCHEDULABLE = "node_unschedulable"
    NODE_UNHEALTHY = "node_unhealthy"
    RDMA_DOWN = "rdma_down"
    CPU = "cpu"
    MEMORY = "memory"
    DEVICES = "devices"
    SLICES = "slices"
    GANG = "gang"
    QUOTA = "quota"
    FAIR_SHARE = "fair_share"
    BEHIND_RESERVATION = "behind_reservation"
    WAITING_FOR_VICTIMS = "waiting_for_victims"
    BAD_REQUEST = "bad_request"


@dataclass(frozen=True, slots=True)
class Place:
    """Start this member of the task on this node, on these pieces of its cards."""

    task_id: str
    node_id: str
    slices: tuple[Slice, ...]
    member: int = 0


@dataclass(frozen=True, slots=True)
class Preempt:
    """Ask `task_id` (all its members) to give way so that `for_task_id` can start."""

    task_id: str
    for_task_id: str
    why: str


@dataclass(frozen=True, slots=True)
class Cause:
    """The dominant cause and the parameters of its message, e.g. {"node": "gpu-a01", "devices_short": 1}."""

    code: CauseCode
    params: Mapping[str, int | float | str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class FunnelStep:
    """The number of nodes left after this check; steps are in the order in which they are applied."""

    name: str
    count: int


@dataclass(frozen=True, slots=True)
class NearestMiss:
    """The node that comes closest and everything it is short of; `nodes` counts the nodes that are equally close."""

    node_id: str
    nodes: int = 1
    cpu_milli: int = 0
    memory_mib: int = 0
    devices: int = 0
    core_milli: int = 0
    device_memory_mib: int = 0


@dataclass(frozen=True, slots=True)
class Holder:
    """A running task on cards that the waiting one could use. The caller hides names across organisations."""

    task_id: str
    organisation: str
    gpu_milli: int
    end_p50: float | None
    end_p90: float | None
    may_yield: bool
    why: str


@dataclass(frozen=True, slots=True)
class Alternative:
    """A changed request that would start now."""

    gpu: GpuRequest | None
    node_id: str
    members: int = 1


@dataclass(frozen=True, slots=True)
class Ahead:
    """`tasks` are before it in the queue for the same cards; with it they need `cards`, of which `free` are free."""

    tasks: int
    cards: int
    free: int

    @property
    def short(self) -> int:
        """How many cards must fall free, at least, before all of them have started."""
        return max(0, self.cards - self.free)


@dataclass(frozen=True, slots=True)
class Wait:
    """The task does not start in this pass, and why. `position` counts from 1 in queue order.

    `reserved_nodes`: where room is reserved for it; pass them back as `Snapshot.promised` to keep the promise.
    `guessed`: nobody knows when that room becomes free, so until then other tasks that fit may use its free part.
    `ahead`: only for what waits for whole cards.
    `is_start_known`: every end that its start rests on is estimated, if only by what owners say, and none is overdue.
    """

    task_id: str
    cause: Cause
    funnel: tuple[FunnelStep, ...]
    position: int
    nearest: NearestMiss | None = None
    start_p50: float | None = None
    start_p90: float | None = None
    holders: tuple[Holder, ...] = ()
    alternatives: tuple[Alternative, ...] = ()
    reserved_nodes: tuple[str, ...] = ()
    guessed: bool = False
    ahead: Ahead | None = None
    is_start_known: bool = False


@dataclass(frozen=True, slots=True)
class Plan:
    """The outcome of one pass. Every waiting task is either placed or has exactly one Wait."""

    decisions: tuple[Place | Preempt | Wait, ...]

    @property
    def places(self) -> tuple[Place, ...]:
        return tuple(d for d in self.decisions if isinstance(d, Place))

    @property
    def preempts(self) -> tuple[Preempt, ...]:
        return tuple(d for d in self.decisions if isinstance(d, Preempt))

    @property
    def waits(self) -> tuple[Wait, ...]:
        return tuple(d for d in self.decisions if isinstance(d, Wait))

    def wait_for(self, task_id: str) -> Wait | None:
        """The Wait of this task, or None when it starts now or is unknown."""
        return next((w for w in self.waits if w.task_id == task_id), None)

    def places_of(self, task_id: str) -> tuple[Place, ...]:
        """All members of this task that start now."""
        return tuple(p for p in self.places if p.task_id == task_id)
