"""Rate nodes by the platform's rule, `ByPotential`. `baselines` has known rules for comparison."""

from enum import StrEnum

import numpy as np

from scheduler.cells import Bools, Cells, Floats, Ints, View
from scheduler.columns import INFEASIBLE, NO_PICK, CardNeeds, RequestClass
from scheduler.fragments import STRANDED_WEIGHT, Potential
from scheduler.mix import SCALE
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
    """floor(100 * sigmoid(-change / 1000)), `change` in GPU-milli times SCALE.

    The steps turn near-ties into ties, which go to the lowest row. They are looked up, as exp would dominate the cost.
    """
    return np.asarray(STEPS - EDGES.searchsorted(change, side="left"))


def _step_of(change: float) -> int:
    return int(np.floor(STEPS / (1.0 + np.exp(change / SCALE / WHOLE_MILLI))))


def _edge(step: int) -> int:
    """The largest change with a rating of at least `step`."""
    low, high = -(10**14), 10**14
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if _step_of(middle) >= step else (low, middle)
    return low


EDGES: Floats = np.array([_edge(step) for step in range(STEPS, 0, -1)], np.float64)


def first_idle(fit: Bools, count: int) -> Bools:
    """[k, G]: the first `count` cards that fit, by index."""
    return np.asarray(fit & (np.add.accumulate(fit, axis=1, dtype=np.int64) <= count))


def no_pick(rows: Ints) -> Ints:
    return np.full(len(rows), NO_PICK, np.int64)


class ByPotential:
    """Least increase of fragmentation and stranded capacity."""

    def __init__(self, cells: Cells, mix: Mix | None, stranded_weight: float = STRANDED_WEIGHT) -> None:
        self.potential = Potential(cells, mix, stranded_weight)

    def rate(self, kind: RequestClass, view: View, fit: Bools | None) -> tuple[Ints, Ints]:
        cards, cpu_milli = kind.cards, kind.demand.cpu_milli
        if cards is None or fit is None:
            return quantised(self.potential.after_cpu(view, cpu_milli)), no_pick(view.rows)
        if cards.gpu.mode is Mode.WHOLE:
            taken = first_idle(fit, cards.gpu.count)
            return quantised(self.potential.after_whole(view, cpu_milli, taken, cards.gpu.count)), fit.argmax(1)
        return rate_cards(self._pieces(cards, view, cpu_milli), fit, cards.gpu.count)

    def _pieces(self, cards: CardNeeds, view: View, cpu_milli: int) -> Ints:
        """[k, G]: the rating of one piece on each card."""
        if cards.partition is not None:
            return HIGH - cards.partition.cost(view.rows)
        if cards.gpu.mode is Mode.SHARED:
            return shared_fullness(view)
        return quantised(self.potential.after_share(view, cpu_milli, cards.core, cards.memory))


def shared_fullness(view: View) -> Ints:
    """[k, G]: cards in use first, the fullest before others, so that idle cards stay free for any organisation."""
    return np.asarray(HIGH * np.minimum(view.tenants, 1) + HIGH - np.minimum(view.core, HIGH))


def rate_cards(card: Ints, fit: Bools, count: int) -> tuple[Ints, Ints]:
    """Rate rows by their cards: the best card's score, or the mean of the best `count`. card is [k, G]."""
    masked = np.where(fit, card, INFEASIBLE)
    pick = masked.argmax(1)
    if count == 1:
        return np.maximum.reduce(masked, axis=1), pick
    best = -np.sort(-masked, axis=1)[:, :count]
    return best.sum(1) // count, pick
