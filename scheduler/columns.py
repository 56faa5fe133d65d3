"""Request classes and where each fits: one column of scores per class, brought up to date from the log of changes."""

from collections.abc import Mapping
from typing import Protocol

import numpy as np

from scheduler.cells import Bools, Cells, Ints
from scheduler.demand import Demand, claim_on, serves
from scheduler.partitions import PartitionChoice
from scheduler.types import WHOLE_MILLI, GpuRequest, Mode

INFEASIBLE = -1
NO_PICK = -1
_RANK_BITS = 32
CHUNK = 1024


class CardNeeds:
    """What a class asks of cards. fits, core, memory: [S, G] per node shape."""

    def __init__(self, cells: Cells, gpu: GpuRequest, owner: int, profiles: Mapping[str, float]) -> None:
        self.cells, self.gpu, self.owner = cells, gpu, owner
        self.partition = PartitionChoice(cells, gpu, profiles) if gpu.mode is Mode.MIG else None
        self.fits = cells.flags(lambda card: card.healthy and serves(card, gpu))
        self.core = cells.numbers(lambda card: claim_on(card, gpu)[0])
        self.memory = cells.numbers(lambda card: claim_on(card, gpu)[1])
        self.checks_memory = gpu.mode is not Mode.WHOLE and bool((self.memory * self.fits).any())

    def free(self, rows: Ints) -> Bools:
        """[k, G]: cards on which one piece fits now."""
        cells, shape = self.cells, self.cells.shape[rows]
        fit: Bools = np.asarray(self.fits[shape])
        if self.partition is not None:
            return np.asarray(fit & self.partition.possible(rows))
        if self.gpu.mode is Mode.WHOLE:
            return np.asarray(fit & (cells.core[rows] == WHOLE_MILLI) & (cells.tenants[rows] == 0))
        fit = fit & (cells.core[rows] >= self.core[shape])
        if self.checks_memory:
            fit = fit & (cells.card_memory[rows] >= self.memory[shape])
        if self.gpu.mode is Mode.SHARED:
            owner = cells.owner[rows]
            fit = fit & ((owner < 0) | (owner == self.owner))
        return fit


class RequestClass:
    """The static part of a demand against these nodes. `allowed`: [N] rows inside the constraints and open.

    `profiles`: how often MIG profiles are asked for; a place is chosen with them in mind.
    """

    def __init__(self, cells: Cells, demand: Demand, profiles: Mapping[str, float] | None = None) -> None:
        self.cells, self.demand = cells, demand
        self.allowed: Bools = cells.open & within(cells, demand)
        owner = cells.organisation_code(demand.organisation)
        self.cards = CardNeeds(cells, demand.gpu, owner, profiles or {}) if demand.gpu else None

    def room(self, rows: Ints) -> tuple[Bools, Bools | None]:
        """[k]: rows where one member fits now, and the cards [k, G] that could serve it."""
        cells, demand = self.cells, self.demand
        ok = self.allowed[rows] & (cells.cpu[rows] >= demand.cpu_milli) & (cells.memory[rows] >= demand.memory_mib)
        if self.cards is None:
            return ok, None
        fit = self.cards.free(rows)
        return ok & (fit.sum(1) >= self.cards.gpu.count), fit


def within(cells: Cells, demand: Demand) -> Bools:
    """[N]: nodes inside the zone, logical cluster and architecture asked for."""
    wanted = (demand.zone, demand.cluster, demand.arch)
    if wanted == (None, None, None):
        return np.ones(len(cells), np.bool_)
    keep = [
        all(asked in (None, has) for asked, has in zip(wanted, (n.zone, n.cluster, n.arch), strict=True))
        for n in cells.nodes
    ]
    return np.array(keep, np.bool_)


class Scorer(Protocol):
    """Rates rows for a class: higher is better, at least 0. The pick is the card for a single piece, or NO_PICK."""

    def rate(self, kind: RequestClass, rows: Ints, fit: Bools | None) -> tuple[Ints, Ints]: ...


class Column:
    """Scores of one class over all nodes. Ties go to the lowest row."""

    def __init__(self, kind: RequestClass, scorer: Scorer) -> None:
        n = len(kind.cells)
        self.kind, self._scorer = kind, scorer
        self.score: Ints = np.full(n, INFEASIBLE, np.int64)
        self.pick: Ints = np.full(n, NO_PICK, np.int64)
        self._rank = n - 1 - np.arange(n, dtype=np.int64)
        self._seen = len(kind.cells.log)
        rows = np.flatnonzero(kind.allowed)
        for start in range(0, len(rows), CHUNK):
            self._rescore(rows[start : start + CHUNK])

    def refresh(self) -> None:
        """Re-score the rows that changed since the last call."""
        log = self.kind.cells.log
        if self._seen < len(log):
            self._rescore(np.array(list(set(log[self._seen :])), np.int64))
            self._seen = len(log)

    def _rescore(self, rows: Ints) -> None:
        ok, fit = self.kind.room(rows)
        self.score[rows] = INFEASIBLE
        if not ok.all():
            rows, fit = rows[ok], None if fit is None else fit[ok]
        if len(rows):
            score, pick = self._scorer.rate(self.kind, rows, fit)
            self.score[rows] = (score << _RANK_BITS) | self._rank[rows]
            self.pick[rows] = pick

    def best(self, forbidden: Bools | None = None) -> int | None:
        """The row with the highest score outside `forbidden` [N], or None."""
        if not len(self.score):
            return None
        score = self.score if forbidden is None else np.where(forbidden, INFEASIBLE, self.score)
        row = int(score.argmax())
        return row if score[row] >= 0 else None
