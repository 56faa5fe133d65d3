"""Who has how much and who deserves what: DRF over CPU, memory and each accelerator model, guarantees first.

Dominant share: Ghodsi et al., NSDI'11. Deserved share: weighted progressive filling (water-filling) per model.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from enum import IntEnum

from scheduler.cells import Cells, Claim, capacity_of
from scheduler.mix import gpu_milli
from scheduler.types import ANY_MODEL, Amount, Queue, QueueLevel, Task

CPU, MEMORY = "cpu_milli", "memory_mib"
HALF_LIFE_S = 7 * 86400.0
# How long a task waits is bounded by reservations that hold (Rules.hold_after_s). Aging breaks near-ties between
# organisations: a day of waiting counts as much as one hundredth of the cluster held less. More would undo fair shares.
AGING_PER_DAY = 0.01
MOST_AGING = 0.1
# Shares of this moment alone favour large jobs: whoever holds least goes first, and then holds far more than its share.
# So what an organisation has had too much or too little of late counts as well, as if it were to be made good within
# CATCH_UP_S; but for no more than MOST_AHEAD equal shares, or one that comes back would get all there is.
CATCH_UP_S = 3600.0
MOST_AHEAD = 2.0
PARTS = 10**12
Bundle = dict[str, int]


def capacity(cells: Cells) -> Bundle:
    """All that open nodes have, by resource; cards that are unhealthy do not count."""
    total: defaultdict[str, int] = defaultdict(int)
    for row, node in enumerate(cells.nodes):
        if cells.open[row]:
            total[CPU] += max(0, node.cpu_milli)
            total[MEMORY] += max(0, node.memory_mib)
            for card in node.devices:
                if card.healthy:
                    total[card.model] += capacity_of(card)
                    total[ANY_MODEL] += capacity_of(card)
    return dict(total)


def taken_by(cells: Cells, claim: Claim) -> Bundle:
    """A claim by resource."""
    bundle = {CPU: claim.cpu_milli, MEMORY: claim.memory_mib}
    columns = cells.column_of[claim.row]
    for piece in claim.slices:
        column = columns.get(piece.device_id)
        model = cells.cards[claim.row][column].model if column is not None else ""
        bundle[model] = bundle.get(model, 0) + piece.core_milli
        bundle[ANY_MODEL] = bundle.get(ANY_MODEL, 0) + piece.core_milli
    return bundle


def taken_by_all(cells: Cells, claims: Iterable[Claim]) -> Bundle:
    """Claims together by resource."""
    return sum_of(taken_by(cells, claim) for claim in claims)


def sum_of(bundles: Iterable[Mapping[str, int]]) -> Bundle:
    total: defaultdict[str, int] = defaultdict(int)
    for bundle in bundles:
        for resource, amount in bundle.items():
            total[resource] += amount
    return dict(total)


def asked_by(task: Task, members: int) -> Bundle:
    """What a task would add; its model is ANY_MODEL only, unless it names one."""
    bundle = {CPU: task.cpu_milli * members, MEMORY: task.memory_mib * members}
    if task.gpu is not None:
        bundle[ANY_MODEL] = gpu_milli(task.gpu) * members
        if task.gpu.model is not None:
            bundle[task.gpu.model] = bundle[ANY_MODEL]
    return bundle


def value_of(amount: Amount, resource: str) -> int | None:
    if resource == CPU:
        return amount.cpu_milli
    return amount.memory_mib if resource == MEMORY else amount.gpu_milli.get(resource)


class Claimed(IntEnum):
    """A request against a guarantee: inside it, across its edge, or outside. The order is that of turns."""

    INSIDE = 0
    ACROSS = 1
    OUTSIDE = 2


def fraction(bundle: Mapping[str, int], total: Mapping[str, int]) -> float:
    """The largest fraction of any resource in a bundle."""
    return max([amount / total[r] for r, amount in bundle.items() if total.get(r)], default=0.0)


class Shares:
    """Use of each organisation and its standing; kept up to date as the pass places tasks."""

    def __init__(self, total: Bundle, queues: Sequence[Queue] = ()) -> None:
        self.total = total
        self.used: defaultdict[str, Bundle] = defaultdict(dict)
        self.changes: defaultdict[str, int] = defaultdict(int)  # how often the use of an organisation has changed
        self._coming: defaultdict[str, Bundle] = defaultdict(dict)
        self._dominant: dict[str, float] = {}
        self._usual = self._most_ahead = 0.0
        self._equal_share = 0.0
        self.govern(queues)

    def govern(self, queues: Sequence[Queue]) -> None:
        """Weights, guarantees and recent use from now on; what is held stays."""
        self.queue = {q.id: q for q in queues if q.level is QueueLevel.ORGANISATION}
        self.has_guarantees = any(_promises(q.guarantee) for q in self.queue.values())

    def parts(self, bundle: Mapping[str, int]) -> int:
        """The largest fraction of any resource, in whole PARTS of the cluster."""
        return round(fraction(bundle, self.total) * PARTS)

    def add(self, organisation: str, bundle: Mapping[str, int], sign: int = 1) -> None:
        used = self.used[organisation]
        self._dominant.pop(organisation, None)
        self.changes[organisation] += 1
        for resource, amount in bundle.items():
            used[resource] = used.get(resource, 0) + sign * amount

    def expect(self, organisation: str, bundle: Mapping[str, int], sign: int = 1) -> None:
        """Room that is reserved: it counts for turns as if it were held, but against no guarantee."""
        coming = self._coming[organisation]
        self._dominant.pop(organisation, None)
        for resource, amount in bundle.items():
            coming[resource] = coming.get(resource, 0) + sign * amount

    def weight(self, organisation: str) -> float:
        queue = self.queue.get(organisation)
        return queue.weight if queue is not None and queue.weight > 0 else 1.0

    def claim_on_promise(self, organisation: str, bundle: Mapping[str, int]) -> Claimed:
        """How a bundle stands to what the organisation was promised, on top of what it holds.

        Cards decide when there are any, else CPU. A request that names no model counts against all promises together.
        """
        if not self.has_guarantees:
            return Claimed.OUTSIDE
        used, wanted = self.used[organisation], self._wanted(organisation, bundle)
        left = [self._promise(organisation, r) - used.get(r, 0) for r in wanted]
        if all(room >= bundle.get(r, 0) for room, r in zip(left, wanted, strict=True)):
            return Claimed.INSIDE
        return Claimed.ACROSS if all(room > 0 for room in left) else Claimed.OUTSIDE

    def _wanted(self, organisation: str, bundle: Mapping[str, int]) -> list[str]:
        """What of a bundle counts against promises."""
        models = [r for r in bundle if r not in (CPU, MEMORY, ANY_MODEL) and bundle[r]]
        return [self._counted(organisation, r) for r in models] or ([ANY_MODEL] if bundle.get(ANY_MODEL) else [CPU])

    def lanes(self, organisation: str) -> tuple[str, ...]:
        """What the organisation was promised, each by itself, and "" for all the rest."""
        if not self.promised(organisation):
            return ("",)
        kinds = (CPU, ANY_MODEL, *sorted({*self.queue[organisation].guarantee.gpu_milli} - {ANY_MODEL}))
        return *(kind for kind in kinds if self._promise(organisation, kind)), ""

    def lane_of(self, organisation: str, bundle: Mapping[str, int]) -> str:
        """The lane whose promise decides about a bundle."""
        return next((r for r in self._wanted(organisation, bundle) if self._promise(organisation, r)), "")

    def promised(self, organisation: str) -> bool:
        """Whether the organisation has a guarantee of anything."""
        queue = self.queue.get(organisation)
        return queue is not None and _promises(queue.guarantee)

    def within_guarantee(self, organisation: str, bundle: Mapping[str, int]) -> bool:
        """Whether the organisation, with this bundle added, stays inside what it was promised."""
        return self.claim_on_promise(organisation, bundle) is Claimed.INSIDE

    def above_guarantee(self, organisation: str, bundle: Mapping[str, int]) -> bool:
        """Whether the organisation would still have its promise after giving this bundle back."""
        used = self.used[organisation]
        models = [r for r in bundle if r not in (CPU, MEMORY, ANY_MODEL) and bundle[r]]
        given = [self._counted(organisation, r) for r in models] or [CPU]
        return all(used.get(r, 0) - bundle.get(r, 0) >= self._promise(organisation, r) for r in given)

    def _counted(self, organisation: str, model: str) -> str:
        """Where a card of this model counts: its own promise, or the one over all models where there is one."""
        queue = self.queue.get(organisation)
        promised = queue.guarantee.gpu_milli if queue is not None else {}
        return ANY_MODEL if model not in promised and ANY_MODEL in promised else model

    def _promise(self, organisation: str, resource: str) -> int:
        queue = self.queue.get(organisation)
        if queue is None:
            return 0
        promised = value_of(queue.guarantee, resource)
        if promised is None and resource == ANY_MODEL:
            return sum(queue.guarantee.gpu_milli.values())
        return promised or 0

    def dominant(self, organisation: str) -> float:
        """The largest fraction of any resource that the organisation holds or has reserved."""
        if organisation not in self._dominant:
            used, coming = self.used[organisation], self._coming[organisation]
            both = {r: used.get(r, 0) + coming.get(r, 0) for r in used.keys() | coming.keys()}
            self._dominant[organisation] = fraction(both, self.total)
        return self._dominant[organisation]

    def standing(self, organisation: str, oldest_wait_s: float = 0.0) -> float:
        """Lower goes first: present use per unit of weight, how far recent use is ahead, less a credit for waiting."""
        aging = min(MOST_AGING, AGING_PER_DAY * max(0.0, oldest_wait_s) / 86400.0)
        ahead = max(-self._most_ahead, min(self._most_ahead, self._recent(organisation) - self._usual))
        return self.dominant(organisation) / self.weight(organisation) + ahead - aging

    def compare(self, organisations: Collection[str]) -> None:
        """Measure recent use against the median of these, those that wait."""
        recent = sorted(map(self._recent, organisations))
        self._usual = recent[len(recent) // 2] if recent else 0.0
        self._most_ahead = MOST_AHEAD / sum(map(self.weight, organisations)) if recent else 0.0
        there = {*organisations, *(o for o, used in self.used.items() if any(used.values()))}
        self._equal_share = 1.0 / sum(map(self.weight, there)) if there else 0.0

    def is_owed(self, organisation: str, bundle: Mapping[str, int]) -> bool:
        """Whether it stays within its equal share with this on top, by weight among all that wait or hold something."""
        used = self.used[organisation]
        both = {r: used.get(r, 0) + bundle.get(r, 0) for r in used.keys() | bundle.keys()}
        return fraction(both, self.total) <= self._equal_share * self.weight(organisation)

    def has_its_share(self, organisation: str) -> bool:
        """Whether it holds its equal share already, what is reserved for it left out."""
        return fraction(self.used[organisation], self.total) >= self._equal_share * self.weight(organisation)

    def _recent(self, organisation: str) -> float:
        """Recent use per unit of weight; the whole cluster for CATCH_UP_S is 1."""
        queue, total = self.queue.get(organisation), self.total.get(ANY_MODEL, 0)
        if queue is None or not total:
            return 0.0
        return queue.decayed_usage / (total * CATCH_UP_S) / self.weight(organisation)


def _promises(amount: Amount) -> bool:
    return bool(amount.cpu_milli or amount.memory_mib or any(amount.gpu_milli.values()))


def deserved(
    total: float, guarantee: Mapping[str, float], weight: Mapping[str, float], demand: Mapping[str, float]
) -> dict[str, float]:
    """Divide `total` of one resource: guarantees first (scaled down if they exceed it), the rest by weight.

    Nobody gets more than it asks for. Monotone in weight. Keys are organisations.
    """
    base = {o: min(demand[o], guarantee.get(o, 0.0)) for o in demand}
    promised = sum(base.values())
    if promised >= total:
        return {o: amount * total / promised for o, amount in base.items()} if promised else base
    return _fill(base, total - promised, weight, demand)


def _fill(
    share: dict[str, float], left: float, weight: Mapping[str, float], demand: Mapping[str, float]
) -> dict[str, float]:
    hungry = {o for o in demand if demand[o] > share[o]}
    while hungry and left > 1e-9:
        pool = sum(weight.get(o, 1.0) for o in hungry)
        step = min((demand[o] - share[o]) / weight.get(o, 1.0) for o in hungry)
        step = min(step, left / pool)
        for o in hungry:
            share[o] += step * weight.get(o, 1.0)
        left -= step * pool
        hungry = {o for o in hungry if demand[o] - share[o] > 1e-9}
    return share
