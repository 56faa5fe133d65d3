"""Gangs: equal members placed together or not at all, in the smallest topology domain that holds them."""

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from scheduler.allocator import Allocator
from scheduler.cells import Bools, Cells, Claim
from scheduler.columns import Column, within
from scheduler.demand import Demand
from scheduler.host import host_of
from scheduler.types import Gang, Task

Domain = tuple[str, ...]


def room_on(cells: Cells, row: int, demand: Demand, most: int) -> int:
    """How many members fit on the row together, up to `most`."""
    host, count = host_of(cells, row), 0
    while count < most and (claim := host.fits(demand)) is not None:
        host.take(claim)
        count += 1
    return count


def fits_empty(cells: Cells, demand: Demand, least: int, ever: Bools) -> bool:
    """Whether the empty cluster has room for the whole gang in one zone, logical cluster and model."""
    per_group: defaultdict[Domain, int] = defaultdict(int)
    known: dict[tuple[int, int, int], int] = {}
    for row in np.flatnonzero(ever & within(cells, demand)).tolist():
        node = cells.nodes[row]
        key = (int(cells.shape[row]), node.cpu_milli, node.memory_mib)
        if key not in known:
            known[key] = _room_when_empty(cells, row, demand, least)
        per_group[wide_domain(cells, row)] += known[key]
    return any(total >= least for total in per_group.values())


def _room_when_empty(cells: Cells, row: int, demand: Demand, most: int) -> int:
    node = cells.nodes[row]
    healed = tuple(replace(card, healthy=True) for card in node.devices)
    return room_on(Cells([replace(node, devices=healed)]), 0, demand, most)


def wide_domain(cells: Cells, row: int) -> Domain:
    """The widest domain a gang may span: zone, logical cluster, and the same models of card."""
    node = cells.nodes[row]
    return node.zone, node.cluster, ",".join(sorted({card.model for card in node.devices}))


class GangPlacer:
    """Tries domains from narrow to wide; within one, members go to the best-scored rows one by one."""

    def __init__(self, allocator: Allocator) -> None:
        self.allocator, self.cells = allocator, allocator.cells

    def place(self, task: Task, gang: Gang, demand: Demand, forbidden: Bools | None) -> list[Claim] | None:
        """Claims of all members, already committed, or None with nothing changed."""
        least, most = gang.minimum or gang.size, gang.size
        column = self.allocator.column(demand)
        rows = (
            np.flatnonzero((column.score >= 0) & ~forbidden)
            if forbidden is not None
            else np.flatnonzero(column.score >= 0)
        )
        room = {int(row): room_on(self.cells, int(row), demand, most) for row in rows}
        for size in range(most, least - 1, -1):
            for domain in self._domains(room, size):
                claims = self._fill(task, column, domain, size)
                if claims is not None:
                    return claims
        return None

    def _domains(self, room: dict[int, int], size: int) -> Iterator[list[int]]:
        """Sets of rows with room for all, tightest of the narrowest kind first."""
        depth = max((len(self.cells.nodes[row].topology) for row in room), default=0)
        for level in range(depth + 1, -1, -1):
            groups: defaultdict[Domain, list[int]] = defaultdict(list)
            for row in room:
                groups[self._domain(row, level, depth)].append(row)
            enough = [(sum(room[row] for row in rows), key) for key, rows in groups.items()]
            yield from (groups[key] for total, key in sorted(enough) if total >= size)

    def _domain(self, row: int, level: int, depth: int) -> Domain:
        """Level depth+1 is the node itself, 0 the zone and logical cluster; models are never mixed in a gang."""
        node, wide = self.cells.nodes[row], wide_domain(self.cells, row)
        return (*wide, *node.topology, node.id) if level > depth else (*wide, *node.topology[:level])

    def _fill(self, task: Task, column: Column, rows: list[int], size: int) -> list[Claim] | None:
        outside = np.ones(len(self.cells), np.bool_)
        outside[rows] = False
        claims: list[Claim] = []
        while len(claims) < size:
            column.refresh()
            row = column.best(outside)
            if row is None:
                self.allocator.undo(claims)
                return None
            claims.append(self.allocator.claim_at(column, row, task.organisation))
            self.allocator.commit(claims[-1])
        return claims
