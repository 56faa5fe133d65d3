"""What a driver is asked to start: an attempt with its image, files, cards and limits."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from uuid import UUID

from apps.workloads.drivers.disk import DiskLimits
from apps.workloads.drivers.images import Image, RuntimeImage

DATA = "data"
"""The volume with the platform's data, which all machines share."""


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
    """`volume`: a storage that the driver knows by this name; `subpath`: what is mounted of it, relative to its root.

    `target`: absolute path that the workload sees. What is read-only must be readable by any user: workloads may run
    under a user id of their tenant's. `limit_mib`: how much may be in a tree that only this attempt writes; None for
    one that is limited by other means.
    """

    volume: str
    subpath: str
    target: str
    read_only: bool
    limit_mib: int | None = None


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
    image: Image
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
