"""The contract between the kernel and whatever runs workloads: plain data in, plain data out.

A driver never decides anything: it carries out a placement and reports what it can prove. Names derive from
the attempt's id, so every call may be repeated, by anyone, at any time. A driver that cannot see raises
`CannotSee`; it never reports an end that it has not proved.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Protocol
from uuid import UUID

from apps.workloads.drivers.disk import DiskLimits
from apps.workloads.drivers.sockets import Endpoint
from apps.workloads.drivers.streams import ExecStream


class DriverError(Exception):
    """Not now. Nothing follows from this about the workload."""


class CannotSee(DriverError):
    """Transient: the state could not be read. Keep the last known state, call it stale, ask again."""


class LaunchRefused(DriverError):
    """Final: this request can never start here. `code` is stable, `text` one English sentence for people."""

    def __init__(self, code: str, text: str) -> None:
        super().__init__(text)
        self.code = code
        self.text = text


class Unsupported(DriverError):
    """The driver, or this machine, does not offer this capability."""


@dataclass(frozen=True, slots=True)
class DeviceGrant:
    """One accelerator, or one share of it, that the placement gives to the attempt.

    `memory_mib` and `cores_pct` are what was granted, not what the card has; `mode` is the card's mode
    (`whole`, `shared`, `vgpu`, `mig`). `uuid` is the vendor's own id of the card or MIG instance. `profile` and
    `slot` name the partition of a MIG card: `3g.40gb` from memory slice 4 on. The driver adds which instance it made
    for it: its uuid (`MIG-…`), and the ids of its GPU and compute instance; and what limits a vGPU slice there.
    """

    uuid: str
    index: int
    vendor: str
    model: str
    memory_mib: int
    cores_pct: int
    mode: str
    profile: str = ""
    slot: int | None = None
    mig_uuid: str = ""
    gpu_instance: int | None = None
    compute_instance: int | None = None
    limiter: str = ""


@dataclass(frozen=True, slots=True)
class Mount:
    """`source`: absolute path on the host; `target`: absolute path that the workload sees.

    A read-only source must be readable by any user: workloads may run under a user id of their tenant's. `limit_mib`:
    how much may be in a tree that only this attempt writes; None for one that is limited by other means.
    """

    source: str
    target: str
    read_only: bool
    limit_mib: int | None = None


class RuntimeKind(StrEnum):
    """Where a runtime's requirements come from: PyPI (`numpy==2.3.5`), or npm (`code-server@4.139.1`)."""

    PYTHON = "python"
    NODE = "node"


@dataclass(frozen=True, slots=True)
class RuntimeImage:
    """A runtime made of pinned requirements, shared by all workloads of a machine.

    Content-addressed by Python version, kind and requirements; `name` is shown, and names a tool's variable.
    """

    name: str
    requirements: tuple[str, ...] = ()
    kind: RuntimeKind = RuntimeKind.PYTHON


@dataclass(frozen=True, slots=True)
class LaunchRequest:
    """Everything a driver needs to run one attempt. Paths in `argv`, `env` and `workdir` are mount targets.

    `cpu_milli` is in thousandths of a core, `memory_mib` in MiB and enforced; `network` False means no network.
    `ports`: a program that listens on 127.0.0.1 at one of them is reached through `Driver.endpoint`. `tools`: runtimes
    beside the image's, each at the path that variable `PLSTACK_TOOL_<NAME>` holds. `egress`: the way out through the
    platform's proxy, which is all the network that a workload without `network` has.
    """

    attempt_id: UUID
    workload_id: UUID
    tenant_id: UUID
    node: str
    image: RuntimeImage
    argv: tuple[str, ...]
    env: Mapping[str, str]
    mounts: tuple[Mount, ...]
    workdir: str
    cpu_milli: int
    memory_mib: int
    devices: tuple[DeviceGrant, ...] = ()
    network: bool = False
    ports: tuple[int, ...] = ()
    tools: tuple[RuntimeImage, ...] = ()
    egress: bool = False
    disk: DiskLimits = field(default_factory=DiskLimits)


@dataclass(frozen=True, slots=True)
class Handle:
    """What to store to find the attempt again. `ref` derives from the attempt's id."""

    driver: str
    node: str
    ref: str

    def as_dict(self) -> dict[str, str]:
        """JSON-able form; `from_dict` reads it back."""
        return {"driver": self.driver, "node": self.node, "ref": self.ref}

    @classmethod
    def from_dict(cls, data: Mapping[str, str]) -> "Handle":
        """Raises KeyError when a field is missing."""
        return cls(driver=data["driver"], node=data["node"], ref=data["ref"])


class Phase(StrEnum):
    """Where an attempt is, as proved by the driver."""

    IMAGE = "image"
    MOUNT = "mount"
    RUNNING = "running"
    EXITED = "exited"
    LOST = "lost"

    @property
    def is_final(self) -> bool:
        return self in (Phase.EXITED, Phase.LOST)


class ExitReason(StrEnum):
    """Why an attempt ended; the first seven happened after the workload's own process had started. See also `disk`."""

    EXITED = "exited"
    SIGNALLED = "signalled"
    OOM = "oom"
    STOPPED = "stopped"
    DISK_LIMIT = "disk_limit"
    FILE_LIMIT = "file_limit"
    DISK_FULL = "disk_full"
    IMAGE_FAILED = "image_failed"
    MOUNT_FAILED = "mount_failed"
    START_FAILED = "start_failed"
    LOST = "lost"


@dataclass(frozen=True, slots=True)
class Progress:
    """What the current step is doing; `fraction` in 0..1, or None when it cannot be told."""

    text: str
    fraction: float | None = None


@dataclass(frozen=True, slots=True)
class StepTime:
    """A start-up step and its monotonic duration in seconds, so far or in total once `done`."""

    name: Phase
    seconds: float
    done: bool


@dataclass(frozen=True, slots=True)
class Usage:
    """One sample. `at_s`: monotonic seconds since running began. GPU figures None when not measured.

    Of several cards: mean utilisation, the sum of memory, the fullest one's memory, and the hottest one's temperature.
    Utilisation is of what was granted: a quarter of a card that is fully used is at 100 %.
    """

    at_s: float
    cpu_milli: int
    memory_mib: int
    gpu_util_pct: float | None = None
    gpu_memory_mib: int | None = None
    gpu_temperature_c: int | None = None
    gpu_fullest_mib: int | None = None


@dataclass(frozen=True, slots=True)
class Exit:
    """How it ended. `code` and `signal` exclude each other; both None when no process of its own ran or was seen."""

    code: int | None
    signal: int | None
    reason: ExitReason
    detail: str = ""

    @property
    def succeeded(self) -> bool:
        return self.reason is ExitReason.EXITED and self.code == 0


@dataclass(frozen=True, slots=True)
class Observation:
    """One authoritative look at an attempt.

    `ran_for_s`: monotonic seconds in `running` so far, in total once exited, up to the last heartbeat when
    lost; None when `running` was never reached. `exit` is set exactly when the phase is final. `checkpoint_age_s`:
    seconds since the program last wrote below $PLSTACK_CHECKPOINTS.
    """

    phase: Phase
    steps: tuple[StepTime, ...] = ()
    progress: Progress | None = None
    ran_for_s: float | None = None
    exit: Exit | None = None
    usage: Usage | None = None
    peak_memory_mib: int | None = None
    checkpoint_age_s: float | None = None


@dataclass(frozen=True, slots=True)
class LogChunk:
    """Bytes `[offset, next_offset)` of the log. `complete`: the attempt has ended and nothing more will come."""

    data: bytes
    offset: int
    next_offset: int
    complete: bool


class IsolationLevel(StrEnum):
    """L1: workloads cannot see each other or the platform. L0: trusted single tenant only."""

    L1 = "L1"
    L0 = "L0"


@dataclass(frozen=True, slots=True)
class Isolation:
    """The level that the machine was shown to give, and `reason`: what it consists of, or what is missing."""

    level: IsolationLevel
    reason: str


class Driver(Protocol):
    """All methods raise `CannotSee` when the answer cannot be known now, never a guess."""

    @property
    def name(self) -> str: ...

    def launch(self, request: LaunchRequest) -> Handle:
        """Start the attempt; one that exists already is adopted. Raises `LaunchRefused`."""
        ...

    def observe(self, handle: Handle) -> Observation: ...

    def stop(self, handle: Handle, grace_s: float) -> None:
        """Ask it to end, kill after `grace_s`. Returns at once; may be repeated; no effect after the end."""
        ...

    def logs(self, handle: Handle, offset: int = 0, limit: int = 65536) -> LogChunk:
        """At most `limit` bytes from `offset`; an empty chunk when there are none yet."""
        ...

    def exec(
        self, handle: Handle, argv: Sequence[str], tty: bool = False, env: Mapping[str, str] | None = None
    ) -> ExecStream:
        """Run `argv` inside the running workload, in its environment (with `env` added) and working directory.

        Raises `Unsupported`, or `DriverError` when it is not running or too much is open in it already.
        """
        ...

    def endpoint(self, handle: Handle, port: int) -> Endpoint:
        """Where a port is reached. Raises `DriverError` until something listens there; `Unsupported`: it never can."""
        ...
