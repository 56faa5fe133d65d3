"""Request classes and where each fits: one column of scores per class, updated from the log of changes."""

from collections.abc import Mapping
from typing import Protocol

import numpy as np

from scheduler.cells import Bools, Cells, Ints, View
from scheduler.demand import Demand, has_devices, may_enter, piece_size, serves
from scheduler.partitions import PartitionChoice
from scheduler.types import GpuRequest, Mode

INFEASIBLE = -1
NO_PICK = -1
CHUNK = 4096
NEVER = 1 << 60


class CardNeeds:
    """A class's requirements of cards. fits, core, memory: [S, G] per node shape."""

    def __init__(self, cells: Cells, gpu: GpuRequest, owner: int, profiles: Mapping[str, float]) -> None:
        self.cells, self.gpu, self.owner = cells, gpu, owner
        self.partition = PartitionChoice(cells, gpu, profiles) if gpu.mode is Mode.MIG else None
        self.fits = cells.flags(lambda card: card.healthy and serves(card, gpu))
        self.core = cells.numbers(lambda card: piece_size(card, gpu)[0])
        self.memory = cells.numbers(lambda card: piece_size(card, gpu)[1])
        self.checks_memory = gpu.mode is not Mode.WHOLE and bool((self.memory * self.fits).any())
        self._least = np.where(self.fits, self.core, NEVER)

    def fitting_cards(self, rows: Ints) -> Bools:
        """[k, G]: cards on which one piece fits now."""
        return self.fitting_cards_in(self.cells.view(rows))

    def fitting_cards_in(self, view: View) -> Bools:
        """The same for rows of a view."""
        cells, shape = self.cells, view.shape
        if self.partition is not None:
            return np.asarray(self.fits[shape] & self.partition.possible(view.rows))
        fit: Bools = view.core >= self._least[shape]
        if self.gpu.mode is Mode.WHOLE:
            return np.asarray(fit & (view.tenants == 0))
        if self.checks_memory:
            fit &= cells.card_memory[view.rows] >= self.memory[shape]
        if self.gpu.mode is Mode.SHARED:
            owner = cells.owner[view.rows]
            fit &= (owner < 0) | (owner == self.owner)
        return fit


class RequestClass:
    """The static part of a demand against these nodes. `allowed`: [N] rows inside the constraints and open.

    `profiles`: how often MIG profiles are asked for; a place is chosen with them in mind.
    """

    def __init__(self, cells: Cells, demand: Demand, profiles: Mapping[str, float] | None = None) -> None:
        self.cells, self.demand = cells, demand
        self.allowed: Bools = cells.open & matching_nodes(cells, demand)
        if demand.rdma:
            self.allowed = self.allowed & cells.rdma_active
        self._all_allowed = bool(self.allowed.all())
        owner = cells.organisation_code(demand.organisation)
        self.cards = CardNeeds(cells, demand.gpu, owner, profiles or {}) if demand.gpu else None

    def room(self, rows: Ints) -> tuple[Bools, Bools | None]:
        """[k]: rows where one member fits now, and the cards [k, G] that could serve it."""
        return self.room_in(self.cells.view(rows))

    def room_in(self, view: View) -> tuple[Bools, Bools | None]:
        """The same for rows of a view."""
        ok = (view.cpu >= self.demand.cpu_milli) & (view.memory >= self.demand.memory_mib)
        if not self._all_allowed:
            ok &= self.allowed[view.rows]
        if self.cards is None:
            return ok, None
        fit = self.cards.fitting_cards_in(view)
        if self.cards.gpu.count == 1:
            return ok & np.logical_or.reduce(fit, axis=1), fit
        return ok & (np.add.reduce(fit, axis=1, dtype=np.int64) >= self.cards.gpu.count), fit


def matching_nodes(cells: Cells, demand: Demand) -> Bools:
    """[N]: nodes that the demand may enter in the requested zone and cluster, of an architecture that will do.

    And with the devices that it asks for beside cards.
    """
    wanted = (demand.zone, demand.cluster)
    if wanted == (None, None) and not (demand.archs or demand.rdma or cells.reserved_clusters):
        return np.ones(len(cells), np.bool_)
    keep = [
        all(asked in (None, has) for asked, has in zip(wanted, (n.zone, n.cluster), strict=True))
        and (not demand.archs or n.arch in demand.archs)
        and may_enter(n, demand)
        and has_devices(n, demand)
        for n in cells.nodes
    ]
    return np.array(keep, np.bool_)


class Scorer(Protocol):
    """Rates rows for a class: higher is better, at least 0. The pick is the card for a single piece, or NO_PICK.

    Rows where no member fits may be among them; their ratings are ignored.
    """

    def rate(self, kind: RequestClass, view: View, fit: Bools | None) -> tuple[Ints, Ints]: ...


class Column:
    """Scores of one class over all nodes. Ties go to the lowest row.

    score: [N], INFEASIBLE where no member fits. pick: [N], the card for a single piece. Both use small integer types,
    since there is a column for each class.
    """

    def __init__(self, kind: RequestClass, scorer: Scorer) -> None:
        n = len(kind.cells)
        self.kind, self._scorer = kind, scorer
        self.score = np.full(n, INFEASIBLE, np.int32)
        self.pick = np.full(n, NO_PICK, np.int16)
        self._score_all()

    def _score_all(self) -> None:
        self._seen = self.kind.cells.position
        rows = np.flatnonzero(self.kind.allowed)
        for start in range(0, len(rows), CHUNK):
            self._rescore(rows[start : start + CHUNK])

    def refresh(self) -> None:
        """Re-score the rows that changed since the last call."""
        cells = self.kind.cells
        if self._seen == cells.position:
            return
        rows = cells.changed_rows(self._seen)
        if rows is None:
            self._score_all()
            return
        self._rescore(rows)
        self._seen = cells.position

    def _rescore(self, rows: Ints) -> None:
        view = self.kind.cells.view(rows)
        ok, fit = self.kind.room_in(view)
        score, pick = self._scorer.rate(self.kind, view, fit)
        self.score[rows] = np.where(ok, score, INFEASIBLE)
        self.pick[rows] = pick

    def best(self, forbidden: Bools | None = None) -> int | None:
        """The row with the highest score outside `forbidden` [N], or None."""
        if not len(self.score):
            return None
        score = self.score if forbidden is None else np.where(forbidden, np.int32(INFEASIBLE), self.score)
        row = int(score.argmax())  # the first of equals
        return row if score[row] >= 0 else None
