"""Fragmentation and stranded capacity: what a node's free cards are worth to the typical mix.

F_n(M) = sum over m of p_m * f(n, m): all idle GPU-milli of the node when task kind m cannot run there, else the idle
GPU-milli on cards that are too small for it ("Beware of Fragmentation", ATC'23). H adds cards stranded for want of CPU:
H = F + w * max(0, idle_gpu - idle_cpu * 1000 / R), R the mix's mean CPU-milli per 1000 GPU-milli.

F is computed as idle - useful, with integer weights, in float64 that never leaves the exact range.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from scheduler.cells import Bools, Cells, Floats, Ints
from scheduler.demand import serves
from scheduler.mix import SCALE, cpu_per_card
from scheduler.types import WHOLE_MILLI, Device, GpuRequest, Mix, Mode

STRANDED_WEIGHT = 0.6


def counts_as_idle(card: Device) -> bool:
    """Shared and MIG cards are pools of their own and are not part of F."""
    return card.healthy and card.mode in (Mode.WHOLE, Mode.VGPU)


@dataclass(frozen=True, slots=True)
class Pieces:
    """The mix, grouped by what it asks of one card: Q groups of P kinds. `cpu` and `weight` are [P], `group` [P, Q]."""

    core: Floats  # [Q]
    memory: Ints  # [Q]
    count: Ints  # [Q]
    fits: Floats  # [S, G, Q]: 1 where the card is of the right model and mode
    cpu: Ints
    group: Floats  # [P, Q]: the integer weight of the kind in its group's column


class Potential:
    """F or H of every node times `scale`, kept up to date row by row. `stranded_weight` 0 gives plain F."""

    def __init__(self, cells: Cells, mix: Mix | None, stranded_weight: float = STRANDED_WEIGHT) -> None:
        entries = [e for e in mix.entries if e.gpu and e.gpu.mode in (Mode.WHOLE, Mode.VGPU)] if mix else []
        self.cells = cells
        self.pieces = _pieces(cells, [(e.cpu_milli, e.gpu, round(e.share * SCALE)) for e in entries if e.gpu])
        self.tracks_memory = bool((self.pieces.memory > 0).any())
        self.live: Floats = cells.flags(counts_as_idle).astype(np.float64)
        ratio = cpu_per_card(mix) if mix else 0.0
        self.cpu_to_gpu = WHOLE_MILLI / ratio if ratio else 0.0
        self.stranded_weight = stranded_weight if ratio else 0.0
        n, q = len(cells), len(self.pieces.core)
        self.fitting = np.zeros((n, cells.width, q))
        self.count, self.useful = np.zeros((n, q)), np.zeros((n, q))
        self.value = np.zeros((n, cells.width))
        self.idle, self.total = np.zeros(n), np.zeros(n)
        self._seen = len(cells.log)
        for start in range(0, n, 1024):
            self._refresh(np.arange(start, min(n, start + 1024)))

    def refresh(self) -> None:
        """Bring the rows that changed since the last call up to date."""
        log = self.cells.log
        if self._seen < len(log):
            self._refresh(np.array(list(set(log[self._seen :])), np.int64))
            self._seen = len(log)

    def _refresh(self, rows: Ints) -> None:
        cells = self.cells
        core, memory, shape = cells.core[rows], cells.card_memory[rows], cells.shape[rows]
        value = self._value(core, memory, rows, shape)
        fitting = self._fitting(core, memory, shape)
        self.value[rows], self.fitting[rows] = value, fitting
        self.count[rows] = fitting.sum(1)
        self.useful[rows] = np.matmul(value[:, None, :], fitting)[:, 0]
        self.idle[rows] = value.sum(1)
        weight = self._weight(cells.cpu[rows])
        self.total[rows] = self._total(self.idle[rows], cells.cpu[rows], self.count[rows], self.useful[rows], weight)

    def _value(self, core: Ints, memory: Ints, rows: Ints, shape: Ints) -> Floats:
        """Idle GPU-milli per card [k, G]: the larger of free compute and free memory where the mix asks for memory."""
        if not self.tracks_memory:
            return np.asarray(core * self.live[shape])
        full = np.maximum(self.cells.full_memory[rows], 1)
        return np.asarray(np.maximum(core, memory * WHOLE_MILLI // full) * self.live[shape])

    def _fitting(self, core: Ints, memory: Ints, shape: Ints) -> Floats:
        """[k, G, Q]: 1 where one piece of the group fits on the card."""
        fitting: Floats = self.pieces.fits[shape] * (core[:, :, None] >= self.pieces.core)
        return fitting * (memory[:, :, None] >= self.pieces.memory) if self.tracks_memory else fitting

    def _weight(self, cpu: Ints) -> Floats:
        """[k, Q]: weight of the kinds in each group for which the node has CPU."""
        return np.asarray((cpu[:, None] >= self.pieces.cpu) @ self.pieces.group)

    def _total(self, idle: Floats, cpu: Ints, count: Floats, useful: Floats, weight: Floats) -> Floats:
        lost: Floats = idle * SCALE - ((count >= self.pieces.count) * useful * weight).sum(-1)
        if not self.stranded_weight:
            return lost
        stranded = np.maximum(0.0, idle - cpu * self.cpu_to_gpu)
        return lost + np.rint(stranded * (self.stranded_weight * SCALE))

    def after_cpu(self, rows: Ints, cpu_milli: int) -> Floats:
        """[k]: the change of potential in GPU-milli when a task without cards is added."""
        cpu = self.cells.cpu[rows] - cpu_milli
        total = self._total(self.idle[rows], cpu, self.count[rows], self.useful[rows], self._weight(cpu))
        return np.asarray((total - self.total[rows]) / SCALE)

    def after_whole(self, rows: Ints, cpu_milli: int, taken: Bools) -> Floats:
        """[k]: the change when the cards in `taken` [k, G] are given whole."""
        cpu = self.cells.cpu[rows] - cpu_milli
        gone, value = taken.astype(np.float64), self.value[rows] * taken
        fitting = self.fitting[rows]
        count = self.count[rows] - np.matmul(gone[:, None, :], fitting)[:, 0]
        useful = self.useful[rows] - np.matmul(value[:, None, :], fitting)[:, 0]
        total = self._total(self.idle[rows] - value.sum(1), cpu, count, useful, self._weight(cpu))
        return np.asarray((total - self.total[rows]) / SCALE)

    def after_share(self, rows: Ints, cpu_milli: int, core_milli: Ints, memory_mib: Ints) -> Floats:
        """[k, G]: the change when the piece is cut from each card in turn; core_milli and memory_mib are [k, G]."""
        cells, shape = self.cells, self.cells.shape[rows]
        cpu = cells.cpu[rows] - cpu_milli
        core, memory = cells.core[rows] - core_milli, cells.card_memory[rows] - memory_mib
        value, fitting = self._value(core, memory, rows, shape), self._fitting(core, memory, shape)
        value_before, fitting_before = self.value[rows], self.fitting[rows]
        count = self.count[rows][:, None, :] + (fitting - fitting_before)
        useful = self.useful[rows][:, None, :] + value[:, :, None] * fitting - value_before[:, :, None] * fitting_before
        idle = self.idle[rows][:, None] + value - value_before
        total = self._total(idle, cpu[:, None], count, useful, self._weight(cpu)[:, None, :])
        return np.asarray((total - self.total[rows][:, None]) / SCALE)


def _pieces(cells: Cells, kinds: list[tuple[int, GpuRequest, int]]) -> Pieces:
    """Group the kinds by what they ask of one card."""
    groups = list(dict.fromkeys(gpu for _, gpu, _ in kinds))
    cpu = np.array([cpu for cpu, _, _ in kinds], np.int64)
    group = np.zeros((len(kinds), len(groups)))
    for index, (_, gpu, weight) in enumerate(kinds):
        group[index, groups.index(gpu)] = weight
    fits = np.zeros((max(1, len(cells.shapes)), cells.width, len(groups)))
    for index, gpu in enumerate(groups):
        fits[:, :, index] = cells.flags(_serving(gpu))
    return Pieces(
        np.array([WHOLE_MILLI if gpu.mode is Mode.WHOLE else gpu.core_milli for gpu in groups], np.float64),
        np.array([gpu.memory_mib if gpu.mode is Mode.VGPU else 0 for gpu in groups], np.int64),
        np.array([gpu.count for gpu in groups], np.int64),
        fits,
        cpu,
        group,
    )


def _serving(gpu: GpuRequest) -> Callable[[Device], bool]:
    return lambda card: card.healthy and serves(card, gpu)
