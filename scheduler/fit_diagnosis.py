"""Why a request class does not fit now: nodes left after each check, the dominant cause, the nearest miss.

Static checks (zone, model, size, health, ...) come first; the first that leaves no node is the cause. If nodes are
left, the nearest miss is the one short of the fewest resources, with all that it lacks: granted that, the member fits.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace

import numpy as np

from scheduler.amounts import clean_size
from scheduler.cells import Bools, Cells, Ints, capacity_of
from scheduler.columns import CardNeeds, RequestClass
from scheduler.decisions import Cause, CauseCode, FunnelStep, NearestMiss
from scheduler.demand import Demand, has_devices, may_enter, piece_size, serves
from scheduler.mig import profile_named
from scheduler.types import Device, GpuRequest, Mode

MANY = np.iinfo(np.int64).max
_OF_HARDWARE = frozenset({CauseCode.NO_SUCH_MODEL, CauseCode.NO_SUCH_MODE, CauseCode.NEVER_FITS})
_BEHIND_RESERVED = _OF_HARDWARE | {CauseCode.ARCH, CauseCode.RDMA}


@dataclass(frozen=True, slots=True)
class Finding:
    """The dominant cause, the nodes left after each check, and the nearest miss if there is one."""

    cause: Cause
    funnel: tuple[FunnelStep, ...] = ()
    nearest: NearestMiss | None = None


def can_hold(card: Device, gpu: GpuRequest) -> bool:
    """Whether one piece fits on the card when it is empty, healthy or not."""
    if not serves(card, gpu):
        return False
    if gpu.mode is Mode.MIG:
        return profile_named(card, gpu.profile) is not None
    core, memory = piece_size(card, gpu)
    return core <= capacity_of(card) and memory <= clean_size(card.memory_mib)


class Funnel:
    """Findings per class over the cells as they are now."""

    def __init__(self, cells: Cells) -> None:
        self.cells = cells
        self.schedulable = np.array([node.schedulable for node in cells.nodes], np.bool_)
        self.healthy = np.array([node.healthy for node in cells.nodes], np.bool_)

    def finding(self, kind: RequestClass) -> Finding:
        """The present cause. If one member does fit, the cause is GANG: there is no room for all of them."""
        cells, demand = self.cells, kind.demand
        if not len(cells):
            return Finding(Cause(CauseCode.NO_NODES))
        funnel = [FunnelStep("nodes", len(cells))]
        for code, left in self._left_after_each((*self._permanent_checks(demand), *self._temporary_checks(demand))):
            funnel.append(FunnelStep(code.value, int(left.sum())))
            if not left.any():
                return Finding(Cause(self._blamed(code, demand), _request_params(demand)), tuple(funnel))
        return self._capacity_finding(kind, np.flatnonzero(left), funnel)

    def obstacle(self, demand: Demand) -> Cause | None:
        """Why no node could ever run one member, even when empty; None if one could."""
        if not len(self.cells):
            return Cause(CauseCode.NO_NODES)
        found = (code for code, left in self._left_after_each(self._permanent_checks(demand)) if not left.any())
        code = next(found, None)
        return Cause(self._blamed(code, demand), _request_params(demand)) if code else None

    def _blamed(self, code: CauseCode, demand: Demand) -> CauseCode:
        """What keeps it from nodes that have what is asked for: RESERVED, ARCH or RDMA, rather than "no such card"."""
        if code in _BEHIND_RESERVED and self.cells.reserved_clusters and self._fits_some_reserved_node(demand):
            return CauseCode.RESERVED
        if code in _OF_HARDWARE and demand.archs and self.obstacle(replace(demand, archs=())) is None:
            return CauseCode.ARCH
        if code in _OF_HARDWARE and demand.rdma and self.obstacle(replace(demand, rdma=False)) is None:
            return CauseCode.RDMA
        return code

    def _fits_some_reserved_node(self, demand: Demand) -> bool:
        clusters = self.cells.reserved_clusters
        return clusters != demand.entitled and self.obstacle(replace(demand, entitled=clusters)) is None

    def fits_when_empty(self, demand: Demand) -> Bools:
        """[N]: nodes that could hold one member when empty, whatever their state."""
        big = (self.cells.total_cpu >= demand.cpu_milli) & (self.cells.total_memory >= demand.memory_mib)
        gpu = demand.gpu
        return big if gpu is None else big & self._with_enough_cards(lambda card: can_hold(card, gpu), gpu.count)

    def _with_enough_cards(self, holds: Callable[[Device], bool], count: int) -> Bools:
        """[N]: nodes with at least `count` cards that satisfy `holds`."""
        if not self.cells.width:
            return np.zeros(len(self.cells), np.bool_)
        return np.asarray((self.cells.flags(holds).sum(1) >= count)[self.cells.shape])

    def _left_after_each(self, checks: Iterable[tuple[CauseCode, Bools]]) -> Iterator[tuple[CauseCode, Bools]]:
        """[N] after each check: nodes that passed it and all before it."""
        left = np.ones(len(self.cells), np.bool_)
        for code, passed in checks:
            left = left & passed
            yield code, left

    def _permanent_checks(self, demand: Demand) -> list[tuple[CauseCode, Bools]]:
        """Checks whose outcome no waiting changes."""
        gpu, everywhere = demand.gpu, np.ones(len(self.cells), np.bool_)
        return [
            (CauseCode.ZONE, self._matching(demand.zone, [node.zone for node in self.cells.nodes])),
            (CauseCode.CLUSTER, self._matching(demand.cluster, [node.cluster for node in self.cells.nodes])),
            *self._reserved_check(demand),
            (CauseCode.ARCH, np.array([not demand.archs or node.arch in demand.archs for node in self.cells.nodes])),
            *self._rdma_check(demand),
            (
                CauseCode.NO_SUCH_MODEL,
                self._with_enough_cards(lambda card: gpu.accepts(card.model), 1) if gpu else everywhere,
            ),
            (CauseCode.NO_SUCH_MODE, self._with_enough_cards(lambda card: serves(card, gpu), 1) if gpu else everywhere),
            (CauseCode.NEVER_FITS, self.fits_when_empty(demand)),
        ]

    def _reserved_check(self, demand: Demand) -> list[tuple[CauseCode, Bools]]:
        """Only where there are reserved nodes at all."""
        if not self.cells.reserved_clusters:
            return []
        return [(CauseCode.RESERVED, np.array([may_enter(node, demand) for node in self.cells.nodes], np.bool_))]

    def _rdma_check(self, demand: Demand) -> list[tuple[CauseCode, Bools]]:
        """Only of who asks for such devices."""
        if not demand.rdma:
            return []
        return [(CauseCode.RDMA, np.array([has_devices(node, demand) for node in self.cells.nodes], np.bool_))]

    def _temporary_checks(self, demand: Demand) -> list[tuple[CauseCode, Bools]]:
        return [
            (CauseCode.NODE_UNSCHEDULABLE, self.schedulable),
            (CauseCode.NODE_UNHEALTHY, self.healthy & self._healthy_cards(demand.gpu)),
            *([(CauseCode.RDMA_DOWN, self.cells.rdma_active)] if demand.rdma else ()),
        ]

    def _healthy_cards(self, gpu: GpuRequest | None) -> Bools:
        if gpu is None:
            return np.ones(len(self.cells), np.bool_)
        return self._with_enough_cards(lambda card: card.healthy and can_hold(card, gpu), gpu.count)

    def _matching(self, asked: str | None, names: list[str]) -> Bools:
        return np.array([asked is None or asked == name for name in names], np.bool_)

    def _capacity_finding(self, kind: RequestClass, rows: Ints, funnel: list[FunnelStep]) -> Finding:
        cells, demand = self.cells, kind.demand
        cpu = np.maximum(0, demand.cpu_milli - cells.cpu[rows])
        memory = np.maximum(0, demand.memory_mib - cells.memory[rows])
        devices, core, card_memory = self._card_shortfalls(kind.cards, rows)
        left = np.ones(len(rows), np.bool_)
        for code, short in ((CauseCode.CPU, cpu), (CauseCode.MEMORY, memory), (CauseCode.DEVICES, devices)):
            left = left & (short == 0)
            funnel.append(FunnelStep(code.value, int(left.sum())))
        if left.any():
            return Finding(Cause(CauseCode.GANG, {"nodes_with_room": int(left.sum())}), tuple(funnel))
        kinds = (cpu > 0).astype(np.int64) + (memory > 0) + (devices > 0)
        shorts = (kinds, devices, core, card_memory, cpu, memory)
        best = int(np.lexsort((rows, *reversed(shorts)))[0])
        alike = int(np.all([short == short[best] for short in shorts], axis=0).sum())
        named = [int(short[best]) for short in (cpu, memory, devices, core, card_memory)]
        nearest = NearestMiss(cells.nodes[int(rows[best])].id, alike, *named)
        return Finding(Cause(_dominant(nearest, demand.gpu), miss_params(nearest)), tuple(funnel), nearest)

    def _card_shortfalls(self, cards: CardNeeds | None, rows: Ints) -> tuple[Ints, Ints, Ints]:
        """[k] each: the number of missing cards, and the compute and memory that the best unfit card is short of."""
        nothing = np.zeros(len(rows), np.int64)
        if cards is None:
            return nothing, nothing, nothing
        fit, shape = cards.fitting_cards(rows), self.cells.shape[rows]
        missing = np.maximum(0, cards.gpu.count - fit.sum(1))
        if cards.gpu.mode not in (Mode.VGPU, Mode.SHARED):
            return missing, nothing, nothing
        core = np.maximum(0, cards.core[shape] - self.cells.core[rows])
        memory = np.maximum(0, cards.memory[shape] - self.cells.card_memory[rows])
        candidate = cards.fits[shape] & ~fit & ((core > 0) | (memory > 0))
        column = np.where(candidate, core * (1 << 32) + memory, MANY).argmin(1)
        index = np.arange(len(rows))
        short = candidate[index, column] & (missing > 0)
        return missing, np.where(short, core[index, column], 0), np.where(short, memory[index, column], 0)


def _dominant(miss: NearestMiss, gpu: GpuRequest | None) -> CauseCode:
    if miss.devices and gpu is not None:
        return CauseCode.DEVICES if gpu.mode is Mode.WHOLE else CauseCode.SLICES
    return CauseCode.MEMORY if miss.memory_mib else CauseCode.CPU


def miss_params(miss: NearestMiss) -> dict[str, int | float | str]:
    return {
        "node": miss.node_id,
        "nodes": miss.nodes,
        "cpu_short_milli": miss.cpu_milli,
        "memory_short_mib": miss.memory_mib,
        "devices_short": miss.devices,
        "core_short_milli": miss.core_milli,
        "device_memory_short_mib": miss.device_memory_mib,
    }


def _request_params(demand: Demand) -> Mapping[str, int | float | str]:
    """The request as parameters of a message about a static cause."""
    asked: dict[str, int | float | str] = {"cpu_milli": demand.cpu_milli, "memory_mib": demand.memory_mib}
    for name, value in (("zone", demand.zone), ("cluster", demand.cluster), ("arch", "|".join(demand.archs) or None)):
        if value is not None:
            asked[name] = value
    if demand.gpu is not None:
        models = demand.gpu.model or "|".join(demand.gpu.any_of)
        asked |= {"model": models, "mode": demand.gpu.mode.value, "devices": demand.gpu.count}
        if demand.gpu.profile:
            asked["profile"] = demand.gpu.profile
    return asked
