"""How nodes are rated. `ByPotential` is the platform's rule; the others are known baselines for comparison."""

from enum import StrEnum

import numpy as np

from scheduler.cells import Bools, Cells, Floats, Ints
from scheduler.columns import NO_PICK, CardNeeds, RequestClass
from scheduler.fragments import STRANDED_WEIGHT, Potential
from scheduler.types import WHOLE_MILLI, Mix, Mode

STEPS = 100
HIGH = 1 << 24


class Policy(StrEnum):
    PLSTACK = "plstack"
    FGD = "fgd"
    BESTFIT = "bestfit"
    DOTPROD = "dotprod"
    PACKING = "packing"
    CLUSTERING = "clustering"
    RANDOM = "random"


def quantised(change: Floats) -> Ints:
    """floor(100 * sigmoid(-change / 1000)). The steps make near-ties ties, which then go to the lowest row."""
    return np.floor(STEPS / (1.0 + np.exp(change / WHOLE_MILLI))).astype(np.int64)


def first_idle(fit: Bools, count: int) -> Bools:
    """[k, G]: the first `count` cards that fit, by index."""
    return np.asarray(fit & (np.cumsum(fit, axis=1) <= count))


def no_pick(rows: Ints) -> Ints:
    return np.full(len(rows), NO_PICK, np.int64)


class ByPotential:
    """Least increase of fragmentation and stranded capacity."""

    def __init__(self, cells: Cells, mix: Mix | None, stranded_weight: float = STRANDED_WEIGHT) -> None:
        self.potential = Potential(cells, mix, stranded_weight)

    def rate(self, kind: RequestClass, rows: Ints, fit: Bools | None) -> tuple[Ints, Ints]:
        self.potential.refresh()
        cards, cpu_milli = kind.cards, kind.demand.cpu_milli
        if cards is None or fit is None:
            return quantised(self.potential.after_cpu(rows, cpu_milli)), no_pick(rows)
        if cards.gpu.mode is Mode.WHOLE:
            change = self.potential.after_whole(rows, cpu_milli, first_idle(fit, cards.gpu.count))
            return quantised(change), no_pick(rows)
        return rate_cards(self._pieces(cards, rows, cpu_milli), fit, cards.gpu.count)

    def _pieces(self, cards: CardNeeds, rows: Ints, cpu_milli: int) -> Ints:
        """[k, G]: the rating of one piece on each card."""
        if cards.partition is not None:
            return HIGH - cards.partition.cost(rows)
        if cards.gpu.mode is Mode.SHARED:
            return shared_fullness(cards, rows)
        shape = cards.cells.shape[rows]
        return quantised(self.potential.after_share(rows, cpu_milli, cards.core[shape], cards.memory[shape]))


def shared_fullness(cards: CardNeeds, rows: Ints) -> Ints:
    """[k, G]: cards already in use first, the fullest before others, so that idle ones stay free for anyone."""
    cells = cards.cells
    return np.asarray(HIGH * np.minimum(cells.tenants[rows], 1) + HIGH - np.minimum(cells.core[rows], HIGH))


def rate_cards(card: Ints, fit: Bools, count: int) -> tuple[Ints, Ints]:
    """Rows from cards: the best card's score, or the mean of the best `count`. card is [k, G]."""
    masked = np.where(fit, card, np.int64(-1))
    pick = masked.argmax(1)
    if count == 1:
        return masked[np.arange(len(pick)), pick], pick
    best = -np.sort(-masked, axis=1)[:, :count]
    return best.sum(1) // count, pick
