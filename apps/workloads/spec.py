"""What a workload is to run: plain data, frozen at submission."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from enum import StrEnum
from typing import Any

from apps.secrets.references import SecretReference
from apps.workloads.references import Reference

MOST_MEMBERS = 64
"""More programs of one gang than this would be hard to watch; a barrier of them is still quick."""


class ImageKind(StrEnum):
    """Where a runtime's requirements come from."""

    PYTHON = "python"
    NODE = "node"


@dataclass(frozen=True, slots=True)
class Image:
    """A runtime: its name and, for the local driver, the pinned requirements it is built from.

    Those of a `node` runtime are npm packages (`code-server@4.139.1`).
    """

    name: str
    requirements: tuple[str, ...] = ()
    kind: ImageKind = ImageKind.PYTHON

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> "Image":
        kind = ImageKind(data.get("kind", ImageKind.PYTHON))
        return cls(data["name"], tuple(data["requirements"]), kind)


AnyImage = Image | Reference


def image_from_json(data: Mapping[str, Any]) -> AnyImage:
    return Reference(**data) if "digest" in data else Image.from_json(data)


@dataclass(frozen=True, slots=True)
class Port:
    """A port of 127.0.0.1 inside on which the program of `rank` serves pages; people open it by its name.

    `own`: named by a person or a launcher, and described by `label`; others are those of the platform's own tools.
    """

    name: str
    number: int
    rank: int = 0
    label: str = ""
    own: bool = False


@dataclass(frozen=True, slots=True)
class DataMount:
    """A folder of the platform's data, mounted at `target`. `source` is relative to the data root: homes move.

    `limit_mib`: what may be in it while only this workload writes to it; None where it is limited by other means.
    """

    source: str
    target: str
    read_only: bool = True
    limit_mib: int | None = None


@dataclass(frozen=True, slots=True)
class Gpu:
    """`count` cards or slices on one node. Memory in MiB and compute in thousandths of a card, each per slice."""

    mode: str
    count: int = 1
    model: str | None = None
    core_milli: int = 1000
    memory_mib: int = 0
    profile: str | None = None
    any_of: tuple[str, ...] = ()  # models that will do, where more than one will

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> "Gpu":
        return cls(**{**data, "any_of": tuple(data.get("any_of", ()))})


@dataclass(frozen=True, slots=True)
class Option:
    """A package that will do, with its price as it was at submission, and the model of card by which it is known."""

    package_id: int
    price_version_id: int
    model: str


@dataclass(frozen=True, slots=True)
class RankStart:
    """What one member of a gang starts in place of the spec's `argv`, and variables of its own beside those of all."""

    argv: tuple[str, ...]
    env: Mapping[str, str] = field(default_factory=dict)

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> "RankStart":
        return cls(tuple(data["argv"]), dict(data["env"]))


@dataclass(frozen=True, slots=True)
class Stage:
    """What runs before the spec's own command, in a container image of its own; see `drivers.request.Stage`."""

    image: Reference
    argv: tuple[str, ...]
    writes: tuple[str, ...] = ()

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> "Stage":
        return cls(Reference(**data["image"]), tuple(data["argv"]), tuple(data["writes"]))


@dataclass(frozen=True, slots=True)
class Spec:
    """Everything that defines the run. CPU in thousandths of a core, memory in MiB.

    `tools`: runtimes beside the image's, each at the path in variable `PLSTACK_TOOL_<NAME>`. `egress`: the way out to
    the internet through the platform's proxy; `network`: the machine's own network, for trusted work only.
    """

    image: AnyImage
    argv: tuple[str, ...]
    cpu_milli: int
    memory_mib: int
    gpu: Gpu | None = None
    env: Mapping[str, str] = field(default_factory=dict)
    mounts: tuple[DataMount, ...] = ()
    workdir: str = "/workspace"
    network: bool = False
    ports: tuple[Port, ...] = ()
    tools: tuple[Image, ...] = ()
    egress: bool = False
    # Where it may run, as its package says: an id of a zone, or anywhere; on simulated hardware, or never there.
    zone: str | None = None
    simulated: bool = False
    # The id of a logical cluster of that zone, where it is to run in this one alone.
    cluster: str | None = None
    # Whether it may be asked to give way to other work. Specs of before there was a choice count as True.
    preemptible: bool = True
    # Packages of which it takes the one whose card is given to it, the one chosen first in front; mostly none.
    options: tuple[Option, ...] = ()
    # What its program is given as it starts; the values are never a part of the spec.
    secrets: tuple[SecretReference, ...] = ()
    # How many of it start and end together, each with all of the above; more than one is a gang.
    members: int = 1
    # Trees that its program finds as its own, each copied to its target right below a mount: `read_only` says nothing.
    copies: tuple[DataMount, ...] = ()
    # An elastic gang starts with as many members as there is room for, from so many on; None: with all or not at all.
    least_members: int | None = None
    # What each member starts, by rank, where they do not all start `argv` alike; empty, or one for every member.
    ranks: tuple[RankStart, ...] = ()
    # Architectures of machines (`clusters.architectures`) on which its image runs; empty: any.
    archs: tuple[str, ...] = ()
    # Whether it changes its container image as that one's root would, to be saved as another one.
    builds: bool = False
    # Whether each member is given the RDMA devices of its node, and so runs only where there are some.
    rdma: bool = False
    # What runs before it in other images, one after the other; only a build has any.
    stages: tuple[Stage, ...] = ()

    @property
    def images(self) -> tuple[AnyImage, ...]:
        """All that something of it runs in, its own first."""
        return (self.image, *(stage.image for stage in self.stages))

    @property
    def is_elastic(self) -> bool:
        """Whether it may have fewer members than it asks for."""
        return self.least_members is not None and self.least_members < self.members

    @property
    def gpu_milli(self) -> int:
        """Compute that a member holds on accelerators, in thousandths of a card."""
        return 0 if self.gpu is None else self.gpu.count * self.gpu.core_milli

    def start_of(self, rank: int) -> RankStart:
        """What the member of this rank starts."""
        return self.ranks[rank] if self.ranks else RankStart(self.argv)

    def as_json(self) -> dict[str, Any]:
        return asdict(self)

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> "Spec":
        """Raises KeyError, TypeError or ValueError for anything that no version of `as_json` wrote."""
        gpu = data.get("gpu")
        return cls(
            image=image_from_json(data["image"]),
            argv=tuple(data["argv"]),
            cpu_milli=data["cpu_milli"],
            memory_mib=data["memory_mib"],
            gpu=Gpu.from_json(gpu) if gpu else None,
            env=dict(data["env"]),
            mounts=tuple(DataMount(**mount) for mount in data["mounts"]),
            workdir=data["workdir"],
            network=data["network"],
            ports=tuple(Port(**port) for port in data.get("ports", ())),
            tools=tuple(Image.from_json(tool) for tool in data.get("tools", ())),
            egress=data.get("egress", False),
            zone=data.get("zone"),
            simulated=data.get("simulated", False),
            cluster=data.get("cluster"),
            preemptible=data.get("preemptible", True),
            options=tuple(Option(**option) for option in data.get("options", ())),
            secrets=tuple(SecretReference(**secret) for secret in data.get("secrets", ())),
            members=data.get("members", 1),
            least_members=data.get("least_members"),
            copies=tuple(DataMount(**copy) for copy in data.get("copies", ())),
            ranks=tuple(RankStart.from_json(start) for start in data.get("ranks", ())),
            archs=tuple(data.get("archs", ())),
            builds=data.get("builds", False),
            rdma=data.get("rdma", False),
            stages=tuple(Stage.from_json(stage) for stage in data.get("stages", ())),
        )
