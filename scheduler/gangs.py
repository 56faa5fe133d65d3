"""Gangs: equal members placed together or not at all, in the smallest topology domain that holds them."""

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from scheduler.allocator import Allocator
from scheduler.cells import Bools, Cells, Claim, Ints
from scheduler.columns import Column, RequestClass, within
from scheduler.demand import Demand
from scheduler.host import host_of
from scheduler.topology import Domain, Domains, wide_domain
from scheduler.types import Gang, Mode, Task


def room_on(cells: Cells, row: int, demand: Demand, most: int) -> int:
    """How many members fit on the row together, up to `most`: one after the other, as they would be placed."""
    host, count = host_of(cells, row), 0
    while count < most and (claim := host.fits(demand)) is not None:
        host.take(claim)
        count += 1
    return count


def rooms(kind: RequestClass, rows: Ints, most: int) -> Ints:
    """[k]: how many members fit on each row together, up to `most`. Rows outside the constraints are not asked for."""
    cells, demand, cards = kind.cells, kind.demand, kind.cards
    if cards is not None and (cards.gpu.mode is Mode.MIG or (cards.gpu.count > 1 and cards.gpu.mode is not Mode.WHOLE)):
        return np.array([room_on(cells, row, demand, most) for row in rows.tolist()], np.int64)
    room = np.minimum(
        _times(cells.cpu[rows], demand.cpu_milli, most), _times(cells.memory[rows], demand.memory_mib, most)
    )
    if cards is not None:
        free, shape = cards.free(rows), cells.shape[rows]
        if cards.gpu.mode is Mode.WHOLE:
            return np.asarray(np.minimum(room, np.add.reduce(free, axis=1, dtype=np.int64) // cards.gpu.count))
        pieces = np.minimum(
            _times(cells.core[rows], cards.core[shape], most),
            _times(cells.card_memory[rows], cards.memory[shape], most),
        )
        room = np.minimum(room, np.add.reduce(pieces * free, axis=1))
    return room


def _times(free: Ints, each: Ints | int, most: int) -> Ints:
    """How often `each` goes into what is free, up to `most`; 0 goes into anything as often as is asked."""
    return np.where(np.asarray(each) > 0, np.clip(free // np.maximum(each, 1), 0, most), most)


def fits_empty(cells: Cells, demand: Demand, least: int, ever: Bools) -> bool:
    """Whether the empty cluster has room for the whole gang in one zone, logical cluster and model."""
    per_group: defaultdict[Domain, int] = defaultdict(int)
    known: dict[tuple[int, int, int], int] = {}
    for row in np.flatnonzero(ever & within(cells, demand)).tolist():
        key = (int(cells.shape[row]), int(cells.total_cpu[row]), int(cells.total_memory[row]))
        if key not in known:
            known[key] = _room_when_empty(cells, row, demand, least)
        per_group[wide_domain(cells.nodes[row])] += known[key]
    return any(total >= least for total in per_group.values())


def _room_when_empty(cells: Cells, row: int, demand: Demand, most: int) -> int:
    node = cells.nodes[row]
    healed = tuple(replace(card, healthy=True) for card in node.devices)
    alone = Cells([replace(node, devices=healed)])
    return int(rooms(RequestClass(alone, demand), np.array([0]), most)[0])


class GangPlacer:
    """Tries domains from narrow to wide; within one, members go to the best-scored rows one by one."""

    def __init__(self, allocator: Allocator) -> None:
        self.allocator, self.cells = allocator, allocator.cells

    def place(self, task: Task, gang: Gang, demand: Demand, forbidden: Bools | None) -> list[Claim] | None:
        """Claims of all members, already committed, or None with nothing changed. As many as fit, if it is elastic."""
        least, column = gang.minimum or gang.size, self.allocator.column(demand)
        fits = column.score >= 0
        rows = np.flatnonzero(fits if forbidden is None else fits & ~forbidden)
        room, domains = rooms(column.kind, rows, gang.size), self.cells.domains
        most = min(gang.size, domains.most(rows, room))
        for size in range(most, least - 1, -1):
            for domain in _tight(domains, rows, room, size):
                claims = self._fill(task, column, domain, size)
                if claims is not None:
                    return claims
        return None

    def _fill(self, task: Task, column: Column, rows: Ints, size: int) -> list[Claim] | None:
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


def _tight(domains: Domains, rows: Ints, room: Ints, size: int) -> Iterator[Ints]:
    """Sets of rows with room for all, tightest of the narrowest kind first."""
    for level in domains.levels:
        here = level[rows]
        total = np.bincount(here, weights=room)
        for code in np.argsort(total, kind="stable").tolist():
            if total[code] >= size:
                yield rows[here == code]
