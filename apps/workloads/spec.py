"""What a workload is to run: plain data, frozen at submission."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any


@dataclass(frozen=True, slots=True)
class Image:
    """A runtime: its name and, for the local driver, the pinned Python requirements it is built from."""

    name: str
    requirements: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class DataMount:
    """A folder of the platform's data, mounted at `target`. `source` is relative to the data root: homes move."""

    source: str
    target: str
    read_only: bool = True


@dataclass(frozen=True, slots=True)
class Gpu:
    """`count` cards or slices on one node. Memory in MiB and compute in thousandths of a card, each per slice."""

    mode: str
    count: int = 1
    model: str | None = None
    core_milli: int = 1000
    memory_mib: int = 0
    profile: str | None = None


@dataclass(frozen=True, slots=True)
class Spec:
    """Everything that defines the run. CPU in thousandths of a core, memory in MiB."""

    image: Image
    argv: tuple[str, ...]
    cpu_milli: int
    memory_mib: int
    gpu: Gpu | None = None
    env: Mapping[str, str] = field(default_factory=dict)
    mounts: tuple[DataMount, ...] = ()
    workdir: str = "/workspace"
    network: bool = False

    @property
    def gpu_milli(self) -> int:
        """Compute held on accelerators, in thousandths of a card."""
        return 0 if self.gpu is None else self.gpu.count * self.gpu.core_milli

    def as_json(self) -> dict[str, Any]:
        return asdict(self)

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> "Spec":
        """Raises KeyError or TypeError for anything `as_json` did not write."""
        image = data["image"]
        gpu = data.get("gpu")
        return cls(
            image=Image(image["name"], tuple(image["requirements"])),
            argv=tuple(data["argv"]),
            cpu_milli=data["cpu_milli"],
            memory_mib=data["memory_mib"],
            gpu=Gpu(**gpu) if gpu else None,
            env=dict(data["env"]),
            mounts=tuple(DataMount(**mount) for mount in data["mounts"]),
            workdir=data["workdir"],
            network=data["network"],
        )
