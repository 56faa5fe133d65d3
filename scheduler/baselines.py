"""Known placement rules, for comparison under the same engine. GPU choice within a node is the tightest card.

BestFit, GPU packing, GPU clustering and dot product follow their usual definitions, on node totals of CPU and GPU,
scaled to 0..100 and cut to whole numbers, as in the evaluation of "Beware of Fragmentation" (ATC'23).
"""

import numpy as np

from scheduler.cells import Bools, Cells, Claim, Ints, View
from scheduler.columns import RequestClass, Scorer
from scheduler.mix import gpu_milli
from scheduler.scorers import STEPS, ByPotential, Policy, no_pick
from scheduler.types import WHOLE_MILLI, Mix, Mode


def scorer_for(policy: Policy, cells: Cells, mix: Mix | None, seed: int = 0) -> Scorer:
    """The scorer of a policy. `seed` is used by the random rule only."""
    if policy is Policy.PLSTACK:
        return ByPotential(cells, mix)
    if policy is Policy.FGD:
        return ByPotential(cells, mix, stranded_weight=0.0)
    if policy is Policy.RANDOM:
        return RandomFit(cells, seed)
    rules: dict[Policy, type[_Baseline]] = {
        Policy.BESTFIT: BestFit,
        Policy.DOTPROD: DotProduct,
        Policy.PACKING: Packing,
        Policy.CLUSTERING: Clustering,
    }
    return rules[policy](cells)


class _Baseline:
    """Shared parts: node totals and the tightest card."""

    def __init__(self, cells: Cells) -> None:
        self.cells = cells
        self.most_cpu = float(cells.cpu.max(initial=1))
        self.most_gpu = float(cells.core.sum(1).max(initial=1))

    def rate(self, kind: RequestClass, view: View, fit: Bools | None) -> tuple[Ints, Ints]:
        rows = view.rows
        return self.score(kind, rows, fit), no_pick(rows) if fit is None else self.pick(kind, rows, fit)

    def score(self, kind: RequestClass, rows: Ints, fit: Bools | None) -> Ints:
        raise NotImplementedError

    def free_gpu(self, rows: Ints) -> Ints:
        return np.asarray(self.cells.core[rows].sum(1))

    def pick(self, kind: RequestClass, rows: Ints, fit: Bools) -> Ints:
        return np.asarray(np.where(fit, self.cells.core[rows], np.iinfo(np.int64).max).argmin(1))


class BestFit(_Baseline):
    """Least left over, CPU and GPU weighted equally."""

    def score(self, kind: RequestClass, rows: Ints, fit: Bools | None) -> Ints:
        cpu = (self.cells.cpu[rows] - kind.demand.cpu_milli) / self.most_cpu
        gpu = (self.free_gpu(rows) - gpu_milli(kind.demand.gpu)) / self.most_gpu
        return ((1.0 - (cpu * 0.5 + gpu * 0.5)) * STEPS).astype(np.int64)


class DotProduct(_Baseline):
    """Smallest dot product of request and free capacity, both relative to the largest node."""

    def score(self, kind: RequestClass, rows: Ints, fit: Bools | None) -> Ints:
        cpu = self.cells.cpu[rows] / self.most_cpu * (kind.demand.cpu_milli / self.most_cpu)
        gpu = self.free_gpu(rows) / self.most_gpu * (gpu_milli(kind.demand.gpu) / self.most_gpu)
        return ((1.0 - (cpu + gpu) / 2) * STEPS).astype(np.int64)


class Packing(_Baseline):
    """Used cards first, then idle cards of used nodes, then idle nodes."""

    def score(self, kind: RequestClass, rows: Ints, fit: Bools | None) -> Ints:
        if fit is None or kind.cards is None:
            return np.zeros(len(rows), np.int64)
        core, exists = self.cells.core[rows], self._cards(rows)
        idle = (exists & (core == WHOLE_MILLI)).sum(1)
        untouched = idle == exists.sum(1)
        tight = np.sort(np.where(fit, core, WHOLE_MILLI + 1), axis=1)[:, : kind.cards.gpu.count]
        fresh = (tight == WHOLE_MILLI).sum(1)
        on_used = np.maximum(STEPS - (tight * STEPS // WHOLE_MILLI).sum(1) // 10, STEPS // 2)
        on_fresh = np.maximum(STEPS // 2 - fresh, STEPS // 3)
        on_idle = np.maximum(STEPS // 3 - idle, idle)
        return np.asarray(np.where(untouched, on_idle, np.where(fresh > 0, on_fresh, on_used)).astype(np.int64))

    def _cards(self, rows: Ints) -> Bools:
        return np.asarray(self.cells.flags(lambda _: True)[self.cells.shape[rows]])


class Clustering(_Baseline):
    """Nodes that already run tasks of the same kind (shares, or so many whole cards), the fuller first."""

    def score(self, kind: RequestClass, rows: Ints, fit: Bools | None) -> Ints:
        if kind.cards is None:
            return np.zeros(len(rows), np.int64)
        wanted = kind.cards.gpu.count if kind.cards.gpu.mode is Mode.WHOLE else 0
        fullness = (STEPS // 4 * (self.most_gpu - self.free_gpu(rows)) // self.most_gpu).astype(np.int64)
        return np.asarray(fullness + np.array([self._tier(int(row), wanted) for row in rows]))

    def _tier(self, row: int, wanted: int) -> int:
        kinds = {_cluster_of(claim) for claim in self.cells.claims[row] if claim.slices}
        if wanted in kinds:
            return STEPS * 3 // 4 if len(kinds) == 1 else STEPS // 2
        return 0 if kinds else STEPS // 4


def _cluster_of(claim: Claim) -> int:
    return 0 if claim.slices[0].core_milli < WHOLE_MILLI else len(claim.slices)


class RandomFit(_Baseline):
    """Any node that fits, any card on it."""

    def __init__(self, cells: Cells, seed: int) -> None:
        super().__init__(cells)
        self._random = np.random.default_rng(seed)

    def score(self, kind: RequestClass, rows: Ints, fit: Bools | None) -> Ints:
        return self._random.integers(0, 1 << 20, len(rows))

    def pick(self, kind: RequestClass, rows: Ints, fit: Bools) -> Ints:
        return np.asarray((fit * (1.0 + self._random.random(fit.shape))).argmax(1))
