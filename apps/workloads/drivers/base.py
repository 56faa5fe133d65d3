"""The contract between the kernel and whatever runs workloads: plain data in, plain data out.

A driver never decides anything: it carries out a placement and reports what it can prove. Names derive from
the attempt's id, so every call may be repeated, by anyone, at any time. A driver that cannot see raises
`CannotSee`; it never reports an end that it has not proved.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import NamedTuple, Protocol

from apps.workloads.drivers.errors import CannotSee as CannotSee
from apps.workloads.drivers.errors import DriverError as DriverError
from apps.workloads.drivers.errors import LaunchRefused as LaunchRefused
from apps.workloads.drivers.errors import Unsupported as Unsupported
from apps.workloads.drivers.images import Image as Image
from apps.workloads.drivers.images import PullRules as PullRules
from apps.workloads.drivers.images import Reference as Reference
from apps.workloads.drivers.images import RuntimeImage as RuntimeImage
from apps.workloads.drivers.images import RuntimeKind as RuntimeKind
from apps.workloads.drivers.request import PULL_CREDENTIAL as PULL_CREDENTIAL
from apps.workloads.drivers.request import SECRET_WITHHELD as SECRET_WITHHELD
from apps.workloads.drivers.request import DeviceGrant as DeviceGrant
from apps.workloads.drivers.request import Gang as Gang
from apps.workloads.drivers.request import LaunchRequest as LaunchRequest
from apps.workloads.drivers.request import Mount as Mount
from apps.workloads.drivers.request import MountCopy as MountCopy
from apps.workloads.drivers.request import Secret as Secret
from apps.workloads.drivers.said import Said, dump, english
from apps.workloads.drivers.sockets import Endpoint
from apps.workloads.drivers.software_sources import SoftwareSources as SoftwareSources
from apps.workloads.drivers.streams import ExecStream


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
    BARRIER = "barrier"  # ready, and waits until the other members of its gang are
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
    """What the current step is doing; `fraction` in 0..1, or None when it cannot be told.

    `left_s`: seconds until it is done, at the pace so far; None when nobody can tell.
    """

    said: Said
    fraction: float | None = None
    left_s: float | None = None

    @property
    def text(self) -> str:
        return str(self.said)


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
    """How it ended. `code` and `signal` exclude each other; both None when no process of its own ran or was seen.

    `said`: what the driver adds to the reason. `output`: the last lines of the program or the installer.
    """

    code: int | None
    signal: int | None
    reason: ExitReason
    said: Said | None = None
    output: str = ""

    @property
    def detail(self) -> str:
        """What was said, in English, else the last lines."""
        return self.output if self.said is None else str(self.said)

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


class LogTime(NamedTuple):
    """Bytes of a log from `offset` on, up to that of the next one, were stored then; in Unix milliseconds."""

    offset: int
    unix_ms: int


@dataclass(frozen=True, slots=True)
class LogChunk:
    """Bytes `[offset, next_offset)` of the log. `complete`: the attempt has ended and nothing more will come.

    `times`: when they were stored, the first from before or at `offset`; empty where nobody wrote it down. `size`: of
    the log so far, in bytes; None where its driver does not say.
    """

    data: bytes
    offset: int
    next_offset: int
    complete: bool
    times: tuple[LogTime, ...] = ()
    size: int | None = None


class IsolationLevel(StrEnum):
    """L1: workloads cannot see each other or the platform. L0: trusted single tenant only."""

    L1 = "L1"
    L0 = "L0"


@dataclass(frozen=True, slots=True)
class Isolation:
    """The level that the machine was shown to give, and `said`: what it consists of, or what is missing."""

    level: IsolationLevel
    said: tuple[Said, ...] = ()

    @property
    def reason(self) -> str:
        """The same in English."""
        return english(self.said)

    @property
    def column(self) -> str:
        """For the column of a node."""
        return dump(self.said)


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
