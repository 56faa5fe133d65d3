"""How a joined machine sees the platform's files: whether they are there, and how they are mounted.

The file that marks the platform's data folder is the proof. A machine that does not see it has another folder there,
or an empty mount point: nothing new starts on it, since nothing of its data would be found or kept.
"""

from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
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

    def judged(self, marker: str) -> "NodeStorage":
        """Whether these are the files of the platform with this marker."""
        return replace(self, present=self.marker == marker)

    def as_json(self) -> dict[str, Any]:
        """For the column. The marker is judged once and not kept: machines join by it."""
        found = asdict(self)
        del found["marker"]
        return found


def storage_of(node: Node) -> NodeStorage:
    """As the node last told; present where it does not tell."""
    return NodeStorage(**node.storage)
