"""How a joined machine sees the platform's files: whether they are there, and how they are mounted.

The file that marks the platform's data folder is the proof. A machine that does not see it has another folder there,
or an empty mount point: nothing new starts on it, since nothing of its data would be found or kept.
"""

from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from enum import StrEnum
from typing import Any

from apps.clusters.models import Node

LONGEST = 200


@dataclass(frozen=True, slots=True)
class NodeStorage:
    """`kind`: the file system, such as nfs4; `source`: what is mounted, `root`: where. `marker`: as it read."""

    present: bool = True
    kind: str = ""
    source: str = ""
    root: str = ""
    marker: str = ""

    @classmethod
    def reported(cls, data: object) -> "NodeStorage | None":
        """What an agent sends; None for one of before, or for anything else."""
        if not isinstance(data, Mapping):
            return None
        names = ("kind", "source", "root", "marker")
        if not all(isinstance(data.get(name), str) for name in names):
            return None
        return cls(**{name: data[name][:LONGEST] for name in names})

    def judged(self, marker: str, *, usable: bool = True) -> "NodeStorage":
        """Whether these are the files of the platform with this marker, and work can use them."""
        return replace(self, present=self.marker == marker and usable)

    def as_json(self) -> dict[str, Any]:
        """For the column. The marker is judged once and not kept: machines join by it."""
        found = asdict(self)
        del found["marker"]
        return found


class StorageProblem(StrEnum):
    """Why work cannot use files that are there."""

    HANGS = "hangs"
    DENIED = "denied"
    OTHER_OWNER = "other_owner"
    FULL = "full"
    DAMAGED = "damaged"
    FAILED = "failed"


@dataclass(frozen=True, slots=True)
class StorageProbe:
    """What came of trying them: a file written and read back as a tenant's user. `write_ms`: for how long that took."""

    problem: StorageProblem | None = None
    write_ms: float = 0.0
    free_bytes: int = 0

    @classmethod
    def reported(cls, data: object) -> "StorageProbe | None":
        """What an agent sends; None for one that tries nothing, or for anything else."""
        if not isinstance(data, Mapping) or not isinstance(data.get("problem"), str):
            return None
        took, free = data.get("write_ms"), data.get("free_bytes")
        if (
            not isinstance(took, int | float)
            or not isinstance(free, int)
            or not (0 <= took < 1e9 and 0 <= free < 1 << 62)
        ):
            return None
        problem = data["problem"]
        known = StorageProblem(problem) if problem in set(StorageProblem) else StorageProblem.FAILED
        return cls(known if problem else None, float(took), free)

    def as_json(self) -> dict[str, Any]:
        return {"problem": self.problem or "", "write_ms": self.write_ms, "free_bytes": self.free_bytes}


def probe_of(node: Node) -> StorageProbe | None:
    """As the node last told; None where it tries nothing."""
    return StorageProbe.reported(node.storage_probe)


def storage_of(node: Node) -> NodeStorage:
    """As the node last told; present where it does not tell."""
    return NodeStorage(**node.storage)
