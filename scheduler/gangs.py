"""Gangs: equal members placed together or not at all, in the smallest topology domain that holds them."""

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from scheduler.allocator import Allocator
from scheduler.cells import Bools, Cells, Claim, Ints
from scheduler.columns import Column, RequestClass, matching_nodes
from scheduler.demand import Demand
from scheduler.host import host_of
from scheduler.topology import Domain, Domains, wide_domain
from scheduler.types import Gang, Mode, Task


def members_that_fit(cells: Cells, row: int, demand: Demand, most: int) -> int:
    """The number of members that fit on the row together, up to `most`, placed one after the other."""
    host, count = host_of(cells, row), 0
    while count < most and (claim := host.fits(demand)) is not None:
        host.take(claim)
        count += 1
    return count


def members_per_row(kind: RequestClass, rows: Ints, most: int) -> Ints:
    """[k]: the number of members that fit on each row together, up to `most`. The rows must meet the constraints."""
    cells, demand, cards = kind.cells, kind.demand, kind.cards
    if cards is not None and (cards.gpu.mode is Mode.MIG or (cards.gpu.count > 1 and cards.gpu.mode is not Mode.WHOLE)):
        return np.array([members_that_fit(cells, row, demand, most) for row in rows.tolist()], np.int64)
    room = np.minimum(
        _multiples(cells.cpu[rows], demand.cpu_milli, most), _multiples(cells.memory[rows], demand.memory_mib, most)
    )
    if cards is not None:
        free, shape = cards.fitting_cards(rows), cells.shape[rows]
        if cards.gpu.mode is Mode.WHOLE:
            return np.asarray(np.minimum(room, np.add.reduce(free, axis=1, dtype=np.int64) // cards.gpu.count))
        pieces = np.minimum(
            _multiples(cells.core[rows], cards.core[shape], most),
            _multiples(cells.card_memory[rows], cards.memory[shape], most),
        )
        room = np.minimum(room, np.add.reduce(pieces * free, axis=1))
    return room


def _multiples(free: Ints, each: Ints | int, most: int) -> Ints:
    """How many times `each` fits into the free amount, up to `most`; `most` times if `each` is 0."""
    return np.where(np.asarray(each) > 0, np.clip(free // np.maximum(each, 1), 0, most), most)


def gang_fits_empty_cluster(cells: Cells, demand: Demand, least: int, ever: Bools, joined: bool = False) -> bool:
    """Whether the empty cluster has room for the whole gang in the widest domain that it may span.

    `joined`: if a network joined all of its nodes.
    """
    per_group: defaultdict[Domain, int] = defaultdict(int)
    known: dict[tuple[int, int, int], int] = {}
    for row in np.flatnonzero(ever & matching_nodes(cells, demand)).tolist():
        key = (int(cells.shape[row]), int(cells.total_cpu[row]), int(cells.total_memory[row]))
        if key not in known:
            known[key] = _room_when_empty(cells, row, demand, least)
        node = replace(cells.nodes[row], joined=True) if joined else cells.nodes[row]
        per_group[(node.id,) if demand.one_node else wide_domain(node, demand.rdma)] += known[key]
    return any(total >= least for total in per_group.values())


def _room_when_empty(cells: Cells, row: int, demand: Demand, most: int) -> int:
    node = cells.nodes[row]
    healed = tuple(replace(card, healthy=True) for card in node.devices)
    alone = Cells([replace(node, devices=healed)])
    return int(members_per_row(RequestClass(alone, demand), np.array([0]), most)[0])


class GangPlacer:
    """Tries domains from narrow to wide; within one, members go to the best-scored rows one by one."""

    def __init__(self, allocator: Allocator) -> None:
        self.allocator, self.cells = allocator, allocator.cells

    def place(self, task: Task, gang: Gang, demand: Demand, forbidden: Bools | None) -> list[Claim] | None:
        """Claims of all members, already committed, or None with no change. An elastic gang gets as many as fit."""
        least, column = gang.minimum or gang.size, self.allocator.column(demand)
        fits = column.score >= 0
        rows = np.flatnonzero(fits if forbidden is None else fits & ~forbidden)
        domains = self.cells.domains_for(demand)
        domains = domains.nodes if demand.one_node else domains
        room = members_per_row(column.kind, rows, gang.size)
        most = min(gang.size, domains.most_members(rows, room))
        for size in range(most, least - 1, -1):
            for domain in _tightest_domains(domains, rows, room, size):
                claims = self._place_members(task, column, domain, size)
                if claims is not None:
                    return claims
        return None

    def _place_members(self, task: Task, column: Column, rows: Ints, size: int) -> list[Claim] | None:
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


def _tightest_domains(domains: Domains, rows: Ints, room: Ints, size: int) -> Iterator[Ints]:
    """Rows of each domain with room for `size` members: narrowest kind of domain first, then least room."""
    for level in domains.levels:
        here = level[rows]
        total = np.bincount(here, weights=room)
        for code in np.argsort(total, kind="stable").tolist():
            if total[code] >= size:
                yield rows[here == code]
