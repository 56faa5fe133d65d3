"""Use and fair shares of organisations: DRF over CPU, memory and each accelerator model, guarantees first.

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
# Present shares alone favour large jobs: the organisation that holds least goes first, and then holds far more than its
# share. So recent use above or below the others counts as well, as if it were to be evened out within CATCH_UP_S; but
# at most MOST_AHEAD equal shares of it, or an organisation that returns after a break would get everything.
CATCH_UP_S = 3600.0
MOST_AHEAD = 2.0
PARTS = 10**12
Bundle = dict[str, int]


def capacity(cells: Cells) -> Bundle:
    """Total capacity of open nodes by resource, without unhealthy cards."""
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


def bundle_of_claim(cells: Cells, claim: Claim) -> Bundle:
    """The resources of a claim."""
    bundle = {CPU: claim.cpu_milli, MEMORY: claim.memory_mib}
    columns = cells.column_of[claim.row]
    for piece in claim.slices:
        column = columns.get(piece.device_id)
        model = cells.cards[claim.row][column].model if column is not None else ""
        bundle[model] = bundle.get(model, 0) + piece.core_milli
        bundle[ANY_MODEL] = bundle.get(ANY_MODEL, 0) + piece.core_milli
    return bundle


def bundle_of_claims(cells: Cells, claims: Iterable[Claim]) -> Bundle:
    """The resources of all claims together."""
    return sum_bundles(bundle_of_claim(cells, claim) for claim in claims)


def sum_bundles(bundles: Iterable[Mapping[str, int]]) -> Bundle:
    total: defaultdict[str, int] = defaultdict(int)
    for bundle in bundles:
        for resource, amount in bundle.items():
            total[resource] += amount
    return dict(total)


def bundle_of_request(task: Task, members: int) -> Bundle:
    """The resources that a task requests; cards count for ANY_MODEL, and for a model only if the task names it."""
    bundle = {CPU: task.cpu_milli * members, MEMORY: task.memory_mib * members}
    if task.gpu is not None:
        bundle[ANY_MODEL] = gpu_milli(task.gpu) * members
        if task.gpu.model is not None:
            bundle[task.gpu.model] = bundle[ANY_MODEL]
    return bundle


def amount_of(amount: Amount, resource: str) -> int | None:
    if resource == CPU:
        return amount.cpu_milli
    return amount.memory_mib if resource == MEMORY else amount.gpu_milli.get(resource)


class GuaranteeFit(IntEnum):
    """A request against a guarantee: inside it, across its edge, or outside. Lower values go first."""

    INSIDE = 0
    ACROSS = 1
    OUTSIDE = 2


def fraction(bundle: Mapping[str, float], total: Mapping[str, int]) -> float:
    """The largest fraction of any resource in a bundle."""
    return max([amount / total[r] for r, amount in bundle.items() if total.get(r)], default=0.0)


class Shares:
    """Use and standing of each organisation, updated as the pass places tasks."""

    def __init__(self, total: Bundle, queues: Sequence[Queue] = ()) -> None:
        self.total = total
        self.used: defaultdict[str, Bundle] = defaultdict(dict)
        self.changes: defaultdict[str, int] = defaultdict(int)  # the number of changes of an organisation's use
        self._reserved: defaultdict[str, Bundle] = defaultdict(dict)
        self._dominant: dict[str, float] = {}
        self._median_recent_use = self._most_ahead = 0.0
        self._equal_share = 0.0
        self.set_queues(queues)

    def set_queues(self, queues: Sequence[Queue]) -> None:
        """Replace weights, guarantees and recent use; present use stays."""
        self.queue = {q.id: q for q in queues if q.level is QueueLevel.ORGANISATION}
        self.has_guarantees = any(_is_guarantee(q.guarantee) for q in self.queue.values())

    def parts(self, bundle: Mapping[str, int]) -> int:
        """The largest fraction of any resource, in whole PARTS of the cluster."""
        return round(fraction(bundle, self.total) * PARTS)

    def add(self, organisation: str, bundle: Mapping[str, int], sign: int = 1) -> None:
        used = self.used[organisation]
        self._dominant.pop(organisation, None)
        self.changes[organisation] += 1
        for resource, amount in bundle.items():
            used[resource] = used.get(resource, 0) + sign * amount

    def add_reserved(self, organisation: str, bundle: Mapping[str, int], sign: int = 1) -> None:
        """Add reserved room: it counts as held in the order of turns, but not against a guarantee."""
        reserved = self._reserved[organisation]
        self._dominant.pop(organisation, None)
        for resource, amount in bundle.items():
            reserved[resource] = reserved.get(resource, 0) + sign * amount

    def weight(self, organisation: str) -> float:
        queue = self.queue.get(organisation)
        return queue.weight if queue is not None and queue.weight > 0 else 1.0

    def guarantee_fit(self, organisation: str, bundle: Mapping[str, int]) -> GuaranteeFit:
        """Whether a bundle fits into the organisation's guarantee on top of what it holds.

        Cards decide if there are any, else CPU. A request without a model counts against all card guarantees together.
        """
        if not self.has_guarantees:
            return GuaranteeFit.OUTSIDE
        used, wanted = self.used[organisation], self._guaranteed_resources(organisation, bundle)
        left = [self._guaranteed(organisation, r) - used.get(r, 0) for r in wanted]
        if all(room >= bundle.get(r, 0) for room, r in zip(left, wanted, strict=True)):
            return GuaranteeFit.INSIDE
        return GuaranteeFit.ACROSS if all(room > 0 for room in left) else GuaranteeFit.OUTSIDE

    def _guaranteed_resources(self, organisation: str, bundle: Mapping[str, int]) -> list[str]:
        """The resources of a bundle that count against guarantees."""
        models = [r for r in bundle if r not in (CPU, MEMORY, ANY_MODEL) and bundle[r]]
        return [self._counted_as(organisation, r) for r in models] or ([ANY_MODEL] if bundle.get(ANY_MODEL) else [CPU])

    def lanes(self, organisation: str) -> tuple[str, ...]:
        """Each resource that the organisation has a guarantee of, and "" for all the rest."""
        if not self.is_guaranteed(organisation):
            return ("",)
        kinds = (CPU, ANY_MODEL, *sorted({*self.queue[organisation].guarantee.gpu_milli} - {ANY_MODEL}))
        return *(kind for kind in kinds if self._guaranteed(organisation, kind)), ""

    def lane_of(self, organisation: str, bundle: Mapping[str, int]) -> str:
        """The lane whose guarantee decides about a bundle."""
        return next(
            (r for r in self._guaranteed_resources(organisation, bundle) if self._guaranteed(organisation, r)), ""
        )

    def is_guaranteed(self, organisation: str) -> bool:
        """Whether the organisation has a guarantee of anything."""
        queue = self.queue.get(organisation)
        return queue is not None and _is_guarantee(queue.guarantee)

    def within_guarantee(self, organisation: str, bundle: Mapping[str, int]) -> bool:
        """Whether the organisation stays inside its guarantee with this bundle added."""
        return self.guarantee_fit(organisation, bundle) is GuaranteeFit.INSIDE

    def above_guarantee(self, organisation: str, bundle: Mapping[str, int]) -> bool:
        """Whether the organisation still has its guarantee without this bundle."""
        used = self.used[organisation]
        models = [r for r in bundle if r not in (CPU, MEMORY, ANY_MODEL) and bundle[r]]
        given = [self._counted_as(organisation, r) for r in models] or [CPU]
        return all(used.get(r, 0) - bundle.get(r, 0) >= self._guaranteed(organisation, r) for r in given)

    def _counted_as(self, organisation: str, model: str) -> str:
        """The resource that a card of this model counts as: its model, or ANY_MODEL if only that is guaranteed."""
        queue = self.queue.get(organisation)
        promised = queue.guarantee.gpu_milli if queue is not None else {}
        return ANY_MODEL if model not in promised and ANY_MODEL in promised else model

    def _guaranteed(self, organisation: str, resource: str) -> int:
        queue = self.queue.get(organisation)
        if queue is None:
            return 0
        promised = amount_of(queue.guarantee, resource)
        if promised is None and resource == ANY_MODEL:
            return sum(queue.guarantee.gpu_milli.values())
        return promised or 0

    def dominant(self, organisation: str) -> float:
        """The largest fraction of any resource that the organisation holds or has reserved."""
        if organisation not in self._dominant:
            used, reserved = self.used[organisation], self._reserved[organisation]
            both = {r: used.get(r, 0) + reserved.get(r, 0) for r in used.keys() | reserved.keys()}
            self._dominant[organisation] = fraction(both, self.total)
        return self._dominant[organisation]

    def standing(self, organisation: str, oldest_wait_s: float = 0.0) -> float:
        """Lower goes first: use per unit of weight, plus recent use against the median, less a credit for waiting."""
        aging = min(MOST_AGING, AGING_PER_DAY * max(0.0, oldest_wait_s) / 86400.0)
        ahead = max(-self._most_ahead, min(self._most_ahead, self._recent_use(organisation) - self._median_recent_use))
        return self.dominant(organisation) / self.weight(organisation) + ahead - aging

    def set_baseline(self, organisations: Collection[str]) -> None:
        """Measure recent use against the median of these, the organisations with waiting tasks."""
        recent = sorted(map(self._recent_use, organisations))
        self._median_recent_use = recent[len(recent) // 2] if recent else 0.0
        self._most_ahead = MOST_AHEAD / sum(map(self.weight, organisations)) if recent else 0.0
        there = {*organisations, *(o for o, used in self.used.items() if any(used.values()))}
        self._equal_share = 1.0 / sum(map(self.weight, there)) if there else 0.0

    def stays_within_equal_share(self, organisation: str, bundle: Mapping[str, int]) -> bool:
        """Whether it stays within its equal share, by weight among all that wait or hold something, with this."""
        used = self.used[organisation]
        both = {r: used.get(r, 0) + bundle.get(r, 0) for r in used.keys() | bundle.keys()}
        return fraction(both, self.total) <= self._equal_share * self.weight(organisation)

    def holds_equal_share(self, organisation: str) -> bool:
        """Whether it already holds its equal share, not counting reserved room."""
        return fraction(self.used[organisation], self.total) >= self._equal_share * self.weight(organisation)

    def _recent_use(self, organisation: str) -> float:
        """Recent use of the resource it used most of, per unit of weight; the whole cluster for CATCH_UP_S is 1."""
        queue = self.queue.get(organisation)
        if queue is None:
            return 0.0
        return fraction(queue.decayed_usage, self.total) / CATCH_UP_S / self.weight(organisation)


def _is_guarantee(amount: Amount) -> bool:
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
    return _water_fill(base, total - promised, weight, demand)


def _water_fill(
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
