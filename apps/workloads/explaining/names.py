"""Names for the ids in an explanation. Machines, zones and clusters belong to the platform: everybody may read them."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from apps.clusters.models import LogicalCluster, Node, Zone


@dataclass(frozen=True, slots=True)
class Names:
    """The machine, the zone and the cluster that an explanation is about; "" where it names none.

    `rdma`: machines with RDMA devices, of what asks for them.
    """

    node: str = ""
    zone: str = ""
    cluster: str = ""
    rdma: tuple[str, ...] = ()


NAMELESS = Names()


def names_of(explanation: Mapping[str, Any]) -> Names:
    """At most four queries, none for what the explanation does not name."""
    params = explanation.get("params") or {}
    return Names(
        node=_name(Node, node_of(explanation)),
        zone=_name(Zone, params.get("zone")),
        cluster=_name(LogicalCluster, params.get("cluster")),
        rdma=_names_of_nodes(str(params.get("rdma_nodes", ""))),
    )


def node_of(explanation: Mapping[str, Any]) -> str | None:
    """The machine that the explanation is about: the nearest miss, or the one that its cause names or is reserved."""
    nearest = explanation.get("nearest") or {}
    reserved = explanation.get("reserved") or []
    found: str | None = nearest.get("node_id") or (explanation.get("params") or {}).get("node")
    return found or (reserved[0] if reserved else None)


def _names_of_nodes(joined: str) -> tuple[str, ...]:
    """By name; `joined`: ids with bars between them."""
    if not joined:
        return ()
    return tuple(Node.objects.filter(pk__in=joined.split("|")).order_by("name").values_list("name", flat=True))


def _name(model: type[Node] | type[Zone] | type[LogicalCluster], key: Any) -> str:
    if not key:
        return ""
    found: str | None = model.objects.filter(pk=key).values_list("name", flat=True).first()
    return found or ""
