"""What a driver may offer beyond the contract; asked with `isinstance`."""

from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from typing import Protocol, runtime_checkable

from apps.clusters.discovery import Machine
from apps.workloads.drivers.base import (
    Handle,
    Isolation,
    Progress,
    PullRules,
    Reference,
    RuntimeImage,
    SoftwareSources,
    Usage,
)
from apps.workloads.drivers.images import Destination, Making
from apps.workloads.drivers.notices import Notice as Notice
from apps.workloads.drivers.probing import Probe as Probe


@runtime_checkable
class MetricsMixin(Protocol):
    def metrics(self, handle: Handle, since_s: float = 0.0) -> list[Usage]:
        """Samples with `at_s > since_s`, oldest first."""
        ...


@runtime_checkable
class IsolationMixin(Protocol):
    def isolation(self, node: str) -> Isolation:
        """The level that this node was shown to give."""
        ...


@runtime_checkable
class CleanupMixin(Protocol):
    def forget(self, handle: Handle) -> None:
        """Remove what is left of an ended attempt; no effect if gone. Raises `DriverError` while it lives."""
        ...


@runtime_checkable
class InventoryMixin(Protocol):
    def known(self, node: str) -> list[str]:
        """`ref` of every attempt of which the node has a record, also of those that no row remembers."""
        ...


@dataclass(frozen=True, slots=True)
class FoundNode:
    """A machine as its driver found it. `key` tells it from the driver's others, and stays when it is renamed."""

    key: str
    machine: Machine
    isolation: Isolation


@runtime_checkable
class DiscoveryMixin(Protocol):
    def nodes(self) -> list[FoundNode]:
        """The machines that the driver finds by itself. Where there is no such driver, machines join with a token."""
        ...


@runtime_checkable
class ImagesMixin(Protocol):
    def has_image(self, image: RuntimeImage) -> bool:
        """Whether it is ready where work would start next, so that nothing is downloaded then."""
        ...


@runtime_checkable
class ReferencesMixin(Protocol):
    """A driver that runs container images. One without it refuses to launch them (`image_unsupported`)."""

    def has_reference(self, image: Reference) -> bool:
        """Whether it is where work would start next, so that nothing is pulled then."""
        ...


@runtime_checkable
class SavingMixin(Protocol):
    def save_image(self, handle: Handle, making: Making | None = None) -> Reference:
        """What runs, as an image: the one that it runs in, and one layer with what was changed there so far.

        It can be launched on the same node from then on. The same changes make the same digest. `making`: what it says
        of itself; one that differs in this alone is another image, too. Raises `DriverError`.
        """
        ...


@runtime_checkable
class PushingMixin(Protocol):
    def push_image(self, handle: Handle, image: Reference, to: Destination) -> Progress | None:
        """Send an image that this run was saved as to a registry: None once it is there, until then how far it is.

        Asked again and again by who waits for it, also once the run has ended; layers that the registry has are not
        sent. Raises `DriverError` where it failed: the next call begins anew.
        """
        ...

    def withdraw_image(self, handle: Handle, image: Reference, to: Destination) -> bool:
        """Send no more of it. True once nothing is being sent: then it is there, or never will be without a new push.

        False for a moment longer: ask again. What is known of an earlier push there is forgotten.
        """
        ...


@runtime_checkable
class KeptImagesMixin(Protocol):
    """A driver whose machine keeps the images that runs were saved as, until it is told that nobody needs them."""

    def saved_images(self, older_than_s: float) -> list[str]:
        """Digests of those that were saved, or saved again, no later than so many seconds ago."""
        ...

    def saved_manifest(self, image: Reference) -> bytes:
        """The manifest of one of them. Raises `DriverError` where it is not kept."""
        ...

    def push_kept(
        self, image: Reference, to: Destination, rules: PullRules, sources: SoftwareSources
    ) -> Progress | None:
        """As `PushingMixin.push_image`, of one whose run may be long gone. `rules`, `sources`: for what is fetched."""
        ...

    def withdraw_kept(self, image: Reference, to: Destination) -> bool:
        """As `PushingMixin.withdraw_image`."""
        ...

    def drop_image(self, digest: str, older_than_s: float = 0.0) -> bool:
        """Remove one; False where it is being sent or was saved again since. Layers of others stay with these."""
        ...


@runtime_checkable
class OwnMachineMixin(Protocol):
    def is_own_machine(self, node: str) -> bool:
        """Whether it is the machine that the platform itself runs on: it cannot be lost, nor be taken away."""
        ...


@runtime_checkable
class AnswersMixin(Protocol):
    def answers(self, node: str) -> bool:
        """Whether the node can be asked at all, found out in a few seconds. Such nodes can fall silent and be lost."""
        ...


@runtime_checkable
class FencingMixin(Protocol):
    """For nodes that may still write to shared storage when nobody reaches them. Both raise OSError."""

    @property
    def fenced_within(self) -> timedelta:
        """From the fence until whatever reaches the storage has seen it, and ended."""
        ...

    def fence(self, ref: str) -> None:
        """The attempt must not run any more. May be repeated."""
        ...

    def unfence(self, ref: str) -> None:
        """Nothing of it is left to be fenced."""
        ...


@runtime_checkable
class EgressMixin(Protocol):
    def egress_socket(self) -> Path:
        """Where the proxy that leads workloads out has to listen, open to every user id (0666)."""
        ...

    def tracking_socket(self) -> Path:
        """The same for the door that leads to the address of tracking and nowhere else."""
        ...


@runtime_checkable
class SourcesMixin(Protocol):
    def probe_sources(self, node: str, sources: SoftwareSources) -> list[Probe]:
        """Whether work there would reach where its packages come from; may take some seconds for each address."""
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


@runtime_checkable
class GangMixin(Protocol):
    """For drivers that run programs which start together. One without it refuses to launch them."""

    def release(self, handle: Handle) -> None:
        """Let a member begin that waits at the barrier. May be repeated; no effect once it has begun or ended."""
        ...


@runtime_checkable
class NoticeMixin(Protocol):
    def tell(self, handle: Handle, notice: Notice | None) -> None:
        """Let the program find the notice in the file $PLSTACK_NOTICE; None takes it back. May be repeated."""
        ...
