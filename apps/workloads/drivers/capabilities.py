"""What a driver may offer beyond the contract; asked with `isinstance`."""

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
