"""The copies of datasets that joined machines keep, as each last told of its own."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from apps.clusters.models import Node, ZoneStorage

MOST_ENTRIES = 200
GIB_MIB = 1024


@dataclass(frozen=True, slots=True)
class NodeCache:
    """`entries`: (organisation, digest) of those used last; `count`, `used_bytes`: of all. `bytes_per_s`: how fast the
    last copies were made, 0 while none was."""

    entries: frozenset[tuple[str, str]] = frozenset()
    count: int = 0
    used_bytes: int = 0
    bytes_per_s: int = 0

    def has(self, organisation: UUID, digest: str) -> bool:
        return (str(organisation), digest) in self.entries


def reported(data: object) -> dict[str, Any]:
    """What an agent sends, for the column; nothing for one that keeps no copies, or for anything else."""
    if not isinstance(data, Mapping) or not isinstance(data.get("entries"), list):
        return {}
    numbers = {name: data.get(name) for name in ("count", "used_bytes", "bytes_per_s")}
    if not all(isinstance(value, int) and 0 <= value < 1 << 62 for value in numbers.values()):
        return {}
    entries = [entry for entry in map(_entry, data["entries"][:MOST_ENTRIES]) if entry]
    return {"entries": entries, **numbers}


def _entry(data: object) -> list[str] | None:
    if not isinstance(data, Mapping):
        return None
    found = [data.get("organisation"), data.get("digest")]
    return [text[:64] for text in found if isinstance(text, str)] if all(isinstance(t, str) for t in found) else None


def cache_of(node: Node) -> NodeCache | None:
    """None of one whose agent keeps no copies, or tells of none: the platform's own machine has the files."""
    told = node.dataset_cache
    if not told:
        return None
    entries = frozenset((organisation, digest) for organisation, digest in told["entries"])
    return NodeCache(entries, told["count"], told["used_bytes"], told["bytes_per_s"])


def cache_mib(node: Node) -> int:
    """The most that the node is to keep of copies, as its zone says; 0: datasets are read where they are."""
    found = ZoneStorage.objects.filter(zone__clusters__nodes=node).values_list("dataset_cache_gib", flat=True).first()
    return GIB_MIB * (found or 0)


def caching_nodes(zone: str | None = None) -> list[Node]:
    """Nodes that copy datasets before they start work: of one zone, or of all."""
    rows = Node.objects.filter(cluster__zone__storage__dataset_cache_gib__gt=0).exclude(dataset_cache={})
    return list(rows if zone is None else rows.filter(cluster__zone_id=zone))
