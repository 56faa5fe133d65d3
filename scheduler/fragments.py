"""Fragmentation and stranded capacity: how much of a node's free cards the typical mix can use.

F_n(M) = sum over m of p_m * f(n, m): all idle GPU-milli of the node when task kind m cannot run there, else the idle
GPU-milli on cards that are too small for it ("Beware of Fragmentation", ATC'23). H adds cards stranded by lack of CPU:
H = F + w * max(0, idle_gpu - idle_cpu * 1000 / R), R the mix's mean CPU-milli per 1000 GPU-milli.

A kind that asks for one card is lost to a card or not whatever the other cards hold, so its part of F is a sum over
cards of idle * loss, with the loss read from a table (`LossTable`). Kinds of several cards are counted per node.
Weights are whole numbers and so is F: sums do not depend on their order.
"""

from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from scheduler.cells import Bools, Cells, Floats, Ints, View
from scheduler.losses import LossTable, MultiCardLosses, counts_as_idle, kinds_of_mix
from scheduler.mix import SCALE, cpu_per_card
from scheduler.types import WHOLE_MILLI, Mix

STRANDED_WEIGHT = 0.6


@dataclass(slots=True)
class IdleCards:
    """Cards of some rows. shape: [k]; value: [k, G], GPU-milli that count as idle; code: their place in the table."""

    shape: Ints
    core: Ints
    memory: Ints | None
    value: Ints
    code: Ints


@lru_cache(maxsize=4096)
def _before_and_after(size: int) -> Ints:
    """[2, 1]: 0 and the size, to subtract from free capacity before and after the size is taken."""
    return np.array([[0], [size]], np.int64)


class Potential:
    """F or H of rows, and its change by a placement, in GPU-milli times SCALE. Keeps no state of the rows.

    `stranded_weight` 0 gives plain F.
    """

    def __init__(self, cells: Cells, mix: Mix | None, stranded_weight: float = STRANDED_WEIGHT) -> None:
        kinds = kinds_of_mix(cells, mix)
        self.cells = cells
        self.table = LossTable(cells, [kind for kind in kinds if kind.gpu.count == 1])
        many = [kind for kind in kinds if kind.gpu.count > 1]
        self.many = MultiCardLosses(cells, many) if many else None
        self.tracks_memory = self.table.tracks_memory or (self.many is not None and self.many.tracks_memory)
        others = cells.flags(lambda card: not counts_as_idle(card)).any()
        self._live: Ints | None = cells.flags(counts_as_idle).astype(np.int64) if others else None
        ratio = cpu_per_card(mix) if mix else 0.0
        self.cpu_to_gpu = WHOLE_MILLI / ratio if ratio else 0.0
        self.stranded_weight = stranded_weight * SCALE if ratio else 0.0

    def at(self, rows: Ints) -> Floats:
        """[k]: the potential now."""
        view = self.cells.view(rows)
        idle, cpu = self._idle(view), view.cpu[None]
        return np.asarray(self._sums(idle, self._lost(idle, cpu), np.add.reduce(idle.value, axis=1), cpu)[0])

    def after_cpu(self, view: View, cpu_milli: int) -> Floats:
        """[k]: the change when a task without cards is added."""
        idle, cpu = self._idle(view), view.cpu - _before_and_after(cpu_milli)
        before, after = self._sums(idle, self._lost(idle, cpu), np.add.reduce(idle.value, axis=1), cpu)
        return np.asarray(after - before)

    def after_whole(self, view: View, cpu_milli: int, taken: Bools, count: int) -> Floats:
        """[k]: the change when the `count` cards in `taken` [k, G], all idle, are given whole."""
        idle, cpu = self._idle(view), view.cpu - _before_and_after(cpu_milli)
        lost, kept = self._lost(idle, cpu), ~taken
        lost[1] *= kept
        milli = np.add.reduce(idle.value, axis=1) - _before_and_after(count * WHOLE_MILLI)
        before, after = self._sums(idle, lost, milli, cpu, kept)
        return np.asarray(after - before)

    def after_share(self, view: View, cpu_milli: int, core_milli: Ints, memory_mib: Ints) -> Floats:
        """[k, G]: the change when the piece is cut from each card in turn; core_milli and memory_mib are [S, G]."""
        idle, cpu = self._idle(view), view.cpu - _before_and_after(cpu_milli)
        memory = None if idle.memory is None else idle.memory - memory_mib[view.shape]
        cut = self._cards(view, view.core - core_milli[view.shape], memory)
        lost = self._lost(idle, cpu)
        sums = np.add.reduce(lost, axis=2)
        elsewhere = sums[1] - sums[0]
        change = self._lost(cut, cpu[1:])[0] - lost[1]
        if self.many is not None:
            elsewhere = elsewhere + self.many.useful(idle, cpu[:1])[0]
            change = change - self.many.useful_after(idle, cut, cpu[1])
        if self.stranded_weight:
            milli = np.add.reduce(idle.value, axis=1)
            elsewhere = elsewhere - self._stranded(milli, cpu[0])
            change = change + self._stranded(milli[:, None] + cut.value - idle.value, cpu[1][:, None])
        return np.asarray(change + elsewhere[:, None])

    def _idle(self, view: View) -> IdleCards:
        return self._cards(view, view.core, self.cells.card_memory[view.rows] if self.tracks_memory else None)

    def _cards(self, view: View, core: Ints, memory: Ints | None) -> IdleCards:
        """Idle is the larger of free compute and free memory: if one of them runs out, the other is a fragment."""
        value = core
        if memory is not None:
            value = np.maximum(core, memory * WHOLE_MILLI // np.maximum(self.cells.full_memory[view.rows], 1))
        if self._live is not None:
            value = value * self._live[view.shape]
        return IdleCards(view.shape, core, memory, value, self.table.code(view.shape, core, memory))

    def _lost(self, idle: IdleCards, cpu: Ints) -> Ints:
        """[c, k, G]: the loss on each card by the table, with each of the [c, k] amounts of free CPU."""
        return self.table.lost(idle.value, idle.code, cpu)

    def _sums(self, idle: IdleCards, lost: Ints, milli: Ints, cpu: Ints, kept: Bools | None = None) -> Floats:
        """[c, k]: the potential with these amounts of free CPU, from the idle milli and the losses of single cards.

        `kept` [k, G]: the cards that are left in the last of them.
        """
        total = np.add.reduce(lost, axis=2)
        if self.many is not None:
            total -= self.many.useful(idle, cpu, kept)
        return np.asarray(total + self._stranded(milli, cpu) if self.stranded_weight else total)

    def _stranded(self, milli: Ints, cpu: Ints) -> Floats:
        """GPU-milli without CPU to use them with, weighted, in whole numbers."""
        stranded = milli - cpu * self.cpu_to_gpu
        np.maximum(stranded, 0.0, out=stranded)
        stranded *= self.stranded_weight
        return np.rint(stranded, out=stranded)
