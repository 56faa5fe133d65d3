"""What a driver may offer beyond the contract; asked with `isinstance`."""

from dataclasses import dataclass
from typing import Protocol, runtime_checkable

from apps.workloads.drivers.base import Handle, Isolation, Usage


@runtime_checkable
class MetricsMixin(Protocol):
    def metrics(self, handle: Handle, since_s: float = 0.0) -> list[Usage]:
        """Samples with `at_s > since_s`, oldest first."""
        ...


@runtime_checkable
class IsolationMixin(Protocol):
    def isolation(self) -> Isolation: ...


@runtime_checkable
class CleanupMixin(Protocol):
    def forget(self, handle: Handle) -> None:
        """Remove what is left of an ended attempt; no effect if gone. Raises `DriverError` while it lives."""
        ...


@runtime_checkable
class GpuModeMixin(Protocol):
    def set_gpu_mode(self, node: str, uuid: str, mode: str) -> None:
        """Bring the card into this mode (`whole`, `shared`, `vgpu`, `mig`); no effect if it is in it.

        The caller has made sure that nothing runs on it. Raises `Unsupported`, or `DriverError` that says what is in
        the way.
        """
        ...


@runtime_checkable
class PartitionMixin(Protocol):
    def sweep_partitions(self) -> int:
        """Take away partitions of cards that ended attempts have left; how many are still claimed by live ones."""
        ...


@dataclass(frozen=True, slots=True)
class Notice:
    """It has to give way: SIGTERM in `leave_in_s` seconds, SIGKILL `save_s` later. `reason` is a stable code."""

    reason: str
    leave_in_s: float
    save_s: float


@runtime_checkable
class NoticeMixin(Protocol):
    def tell(self, handle: Handle, notice: Notice | None) -> None:
        """Let the program find the notice in the file $PLSTACK_NOTICE; None takes it back. May be repeated."""
        ...
