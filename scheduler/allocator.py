"""Place single members: the best node by the column of scores of the request class, and the cards on it."""

from collections.abc import Iterable, Sequence

import numpy as np

from scheduler.cells import Bools, Cells, Claim
from scheduler.closeness import closest
from scheduler.columns import CardNeeds, Column, RequestClass, Scorer
from scheduler.demand import Demand, piece_size
from scheduler.mig import compute_slices, profile_named
from scheduler.partitions import profile_weights
from scheduler.types import WHOLE_MILLI, Device, Mix, Mode, Slice

MOST_COLUMNS = 1024  # of request classes; beyond that the oldest is dropped


class Allocator:
    """Columns by class over shared cells. Nothing is taken until `commit`.

    `profiles`: how often each MIG profile is asked for.
    """

    def __init__(self, cells: Cells, scorer: Scorer, mix: Mix | None = None) -> None:
        self.cells, self.scorer = cells, scorer
        self.profiles = profile_weights(mix)
        self._columns: dict[Demand, Column] = {}

    def column(self, demand: Demand) -> Column:
        """The class's scores, up to date."""
        column = self._columns.get(demand)
        if column is None:
            if len(self._columns) >= MOST_COLUMNS:
                del self._columns[next(iter(self._columns))]
            column = self._columns[demand] = Column(RequestClass(self.cells, demand, self.profiles), self.scorer)
        else:
            column.refresh()
        return column

    def warm(self, demands: Iterable[Demand]) -> None:
        """Score classes before they are needed; the first touch of a class is the slow one."""
        for demand in demands:
            self.column(demand)

    def best_claim(self, demand: Demand, organisation: str, forbidden: Bools | None = None) -> Claim | None:
        """The claim of one member on the best node outside the `forbidden` rows [N], or None."""
        column = self.column(demand)
        row = column.best(forbidden)
        return None if row is None else self.claim_at(column, row, organisation)

    def claim_at(self, column: Column, row: int, organisation: str) -> Claim:
        """The claim of one member on a row where it fits."""
        demand, cards = column.kind.demand, column.kind.cards
        slices = () if cards is None else self._slices(cards, row, int(column.pick[row]))
        return Claim(row, demand.cpu_milli, demand.memory_mib, slices, organisation)

    def commit(self, claim: Claim) -> None:
        self.cells.take(claim)

    def undo(self, claims: Sequence[Claim]) -> None:
        """Undo claims of this pass, last first."""
        for claim in reversed(claims):
            self.cells.give_back(claim)

    def _slices(self, cards: CardNeeds, row: int, pick: int) -> tuple[Slice, ...]:
        gpu = cards.gpu
        chosen = [pick] if gpu.count == 1 else self._pick_cards(cards, row)
        return tuple(self._slice(cards, row, column) for column in chosen)

    def _pick_cards(self, cards: CardNeeds, row: int) -> list[int]:
        """Columns of the cards that the pieces take: the nearest whole cards, others fullest first."""
        fit = [int(column) for column in np.flatnonzero(cards.fitting_cards(np.array([row]))[0])]
        if cards.gpu.mode is not Mode.WHOLE:
            fit.sort(key=lambda column: (self.cells.core[row, column], column))
        elif (distances := self.cells.distances[row]) is not None:
            return list(closest(distances, tuple(fit), cards.gpu.count))
        return fit[: cards.gpu.count]

    def _slice(self, cards: CardNeeds, row: int, column: int) -> Slice:
        card = self.cells.cards[row][column]
        if cards.partition is not None:
            return partition_slice(card, cards.gpu.profile, cards.partition.start(row, column))
        core, memory = piece_size(card, cards.gpu)
        return Slice(card.id, memory, core)


def partition_slice(card: Device, name: str | None, start: int) -> Slice:
    """The MIG partition as a slice; the whole card if the card does not know the profile."""
    profile = profile_named(card, name)
    if profile is None:
        return Slice(card.id, card.memory_mib, WHOLE_MILLI, start, name)
    core_milli = profile.compute * WHOLE_MILLI // max(profile.compute, compute_slices(card))
    return Slice(card.id, profile.memory_mib, core_milli, start, profile.name)
