"""Topology domains of the nodes, from the node itself to zone, logical cluster and models of card."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from scheduler.types import Node

Ints = NDArray[np.int64]
Domain = tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Domains:
    """levels: [N] each, the domain of each row as a number in the order of the domains' names, narrowest kind first."""

    levels: tuple[Ints, ...]

    @property
    def nodes(self) -> "Domains":
        """Each node by itself, and nothing wider."""
        return Domains(self.levels[:1])

    @property
    def widest(self) -> Ints:
        """[N]: of each row, the domain beyond which no gang reaches."""
        return self.levels[-1]

    def most_members(self, rows: Ints, room: Ints) -> int:
        """The most members that one domain of the widest kind has room for."""
        return int(np.bincount(self.widest[rows], weights=room).max(initial=0))


def wide_domain(node: Node, rdma: bool) -> Domain:
    """The widest domain a gang may span: zone, logical cluster, and the same models of card; else the node alone.

    `rdma`: and the same fabric.
    """
    wide: Domain = node.zone, node.cluster, ",".join(sorted({card.model for card in node.devices}))
    if rdma:
        wide = (*wide, node.rdma)
    return wide if node.joined else (*wide, "", node.id)


def domains_of(nodes: Sequence[Node], rdma: bool = False) -> Domains:
    """The domains of these nodes. Costs in proportion to the nodes: keep the result. `rdma`: each within one fabric."""
    depth = max((len(node.topology) for node in nodes), default=0)
    wide = [wide_domain(node, rdma) for node in nodes]
    alone = [(*w, *node.topology, node.id) for w, node in zip(wide, nodes, strict=True)]
    shared = [
        [(*w, *node.topology[:level]) for w, node in zip(wide, nodes, strict=True)] for level in range(depth, -1, -1)
    ]
    return Domains(tuple(_numbered(names) for names in (alone, *shared)))


def _numbered(names: list[Domain]) -> Ints:
    numbers = {name: number for number, name in enumerate(sorted(set(names)))}
    return np.array([numbers[name] for name in names], np.int64)
