"""What a driver is asked to start: an attempt with its image, files, cards and limits."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from uuid import UUID

from apps.workloads.drivers.disk import DiskLimits
from apps.workloads.drivers.images import Image, PullRules, Reference, RuntimeImage
from apps.workloads.drivers.overlay import Overlay
from apps.workloads.drivers.software_sources import SoftwareSources

SECRET_WITHHELD = "secret_withheld"  # noqa: S105 - the code of a refused launch
MACHINE_PYTHON = "machine-python"
"""As the first word of a command: the machine's own Python with its standard library, which is there in every image."""
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
class MountCopy:
    """A tree that never changes, of which a machine keeps a copy of its own and mounts that.

    `listing`: path in the mount's volume of the file that names each of its files with its SHA-256, and `digest` that
    file's own SHA-256, in hexadecimal. `name`: what people call it. `size`, `files`: in all. `cache_mib`: the most that
    the machine keeps of such copies; what does not fit is mounted where it is.
    """

    listing: str
    digest: str
    name: str
    size: int
    files: int
    cache_mib: int


@dataclass(frozen=True, slots=True)
class Mount:
    """`volume`: a storage that the driver knows by this name; `subpath`: what is mounted of it, relative to its root.

    `target`: absolute path that the workload sees. What is read-only must be readable by any user: workloads may run
    under a user id of their tenant's. `limit_mib`: how much may be in a tree that only this attempt writes; None for
    one that is limited by other means. `copy`: of a read-only tree that is to be copied to the machine first.
    """

    volume: str
    subpath: str
    target: str
    read_only: bool
    limit_mib: int | None = None
    copy: MountCopy | None = None


TRACKING_ADDRESS = "PLSTACK_TRACKING_URI"
TRACKING_PORT = 3129
"""On the loopback of a sandbox that may say what it measures, and may reach nothing else."""
PULL_CREDENTIAL = "plstack:registry"
"""Name of the secret with which the image is pulled: a token of its registry, for no variable and no file."""


def pull_credential_of_stage(number: int) -> str:
    """As `PULL_CREDENTIAL`, for the image of a stage, from 0 on: a token goes to no registry but its own."""
    return f"{PULL_CREDENTIAL}.{number}"


@dataclass(frozen=True, slots=True)
class Secret:
    """A value for the program, under `variable` or in the file `file` of `$PLSTACK_SECRETS`: one of them is empty.

    `name`: what people call it. `value` None: it is gone or may not be used any more; a launch that has happened is
    adopted, and none begins.
    """

    name: str
    variable: str = ""
    file: str = ""
    value: str | None = field(default=None, repr=False)


@dataclass(frozen=True, slots=True)
class Gang:
    """The place of a program among those that start together: its rank, and the node of each rank.

    `group`: the same id for all of them. Each waits at a barrier until `GangMixin.release`. `overlay`: what joins the
    members where they are on several nodes.
    """

    group: UUID
    rank: int
    nodes: tuple[str, ...]
    overlay: Overlay | None = None

    @property
    def size(self) -> int:
        return len(self.nodes)


@dataclass(frozen=True, slots=True)
class Stage:
    """A program that runs before the request's own, in another container image, of which nothing is left afterwards.

    It has the request's limits, variables and mounts, of which it may write to those at `writes` alone: so what one
    stage has left in a mount is what the next ones find there. The next one begins where it ends with 0.
    """

    image: Reference
    argv: tuple[str, ...]
    writes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class LaunchRequest:
    """Everything a driver needs to run one attempt, or one member of a gang.

    Paths in `argv`, `env` and `workdir` are mount targets.

    `cpu_milli` is in thousandths of a core, `memory_mib` in MiB and enforced; `network` False means no network.
    `ports`: a program that listens on 127.0.0.1 at one of them is reached through `Driver.endpoint`. `tools`: runtimes
    beside the image's, each at the path that variable `PLSTACK_TOOL_<NAME>` holds; in a container image the machine's
    Python runs them (`MACHINE_PYTHON`), with their packages below `lib`. `tracking`: whether, without
    any other way, it reaches the address at which it logs metrics (`TRACKING_PORT`). `egress`: the way out through the
    platform's proxy, which is all the network that a workload without `network` has. `secrets`: in no argument, record
    or log; what the program prints of them is masked. `copies`: trees that the program finds as its own, each copied to
    its target right below a mount that may be written to, unless something of that name is there already. `sources`:
    where pip and npm download from, when the runtime is prepared and when the program has a way out. `pull`: how a
    container image is fetched; in one, an empty `argv` is its entry point and an empty `workdir` its own. `builds`: it
    changes its image as that one's root would: users and groups are the image's, /run may be written to. `rdma`: it is
    given the machine's RDMA devices whose link is up, which it shares with others that are. `stages`: what runs before
    it, one after the other; they need a container image.
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
    tracking: bool = False
    disk: DiskLimits = field(default_factory=DiskLimits)
    secrets: tuple[Secret, ...] = field(default=(), repr=False)
    gang: Gang | None = None
    copies: tuple[Mount, ...] = ()
    sources: SoftwareSources = field(default_factory=SoftwareSources)
    pull: PullRules = field(default_factory=PullRules)
    builds: bool = False
    rdma: bool = False
    stages: tuple[Stage, ...] = ()
