"""Which package on offer would have been enough, and what it would have cost instead."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta
from decimal import Decimal
from enum import StrEnum

from apps.billing import selectors as funds
from apps.billing.arithmetic import exact_fen
from apps.billing.choices import Isolation
from apps.billing.models import Package
from apps.billing.prices.own import OwnPrices, prices_of
from apps.common.actor import Actor
from apps.workloads.fit.peaks import Held, Peaks, Size, held_by, needs, peaks_of, size_of
from apps.workloads.models import Attempt, Workload
from apps.workloads.placing import is_simulated, read_zones

# Shorter runs say too little about the next one.
LONG_ENOUGH_S = 600
# Less is stronger. Without cards there is nothing to isolate; hardware keeps neighbours out as a whole card does.
_STRENGTH = {
    Isolation.NONE: 0,
    Isolation.WHOLE: 0,
    Isolation.HARDWARE: 0,
    Isolation.MEMORY: 1,
    Isolation.SHARED: 2,
}


class Verdict(StrEnum):
    SMALLER = "smaller"
    NOTHING_SMALLER = "nothing_smaller"
    TOO_SHORT = "too_short"
    UNMEASURED = "unmeasured"


@dataclass(frozen=True, slots=True)
class Smaller:
    """A package that would have been enough. Fen an hour of all members, and fen less for the run as long as it was.

    `weaker`: it isolates less than what the run had.
    """

    package: Package
    rate_fen_per_hour: Decimal
    saved_fen: Decimal
    weaker: bool


@dataclass(frozen=True, slots=True)
class Fit:
    """`smaller`: the cheapest that isolates as well, then the cheapest of all where that is another one.

    `by_memory_alone`: the GPU's work could not be measured (MIG), so its compute was not judged.
    """

    verdict: Verdict
    peaks: Peaks
    held: Held
    rate_fen_per_hour: Decimal
    by_memory_alone: bool = False
    smaller: tuple[Smaller, ...] = ()

    @property
    def judged(self) -> bool:
        return self.verdict in (Verdict.SMALLER, Verdict.NOTHING_SMALLER)


def fit_of(actor: Actor, workload: Workload, attempts: Sequence[Attempt]) -> Fit:
    """How the workload's package fitted, against what the actor may start on now. `attempts` newest first."""
    peaks = peaks_of(attempts)
    held = held_by(workload, attempts)
    own = prices_of(workload.pk, workload.organisation_id)
    rate = own.rate(workload.price_version.rate_fen_per_hour) * workload.member_count
    verdict = _without_looking(peaks, held)
    if verdict is not None:
        return Fit(verdict, peaks, held, rate)
    found = _smaller(actor, workload, peaks, held, own)
    return Fit(
        Verdict.SMALLER if found else Verdict.NOTHING_SMALLER,
        peaks,
        held,
        rate,
        by_memory_alone=bool(held.size.gpu_count) and peaks.gpu_util_pct is None,
        smaller=_told(found),
    )


def _without_looking(peaks: Peaks, held: Held) -> Verdict | None:
    if peaks.ran_s < LONG_ENOUGH_S:
        return Verdict.TOO_SHORT
    unknown = peaks.memory_mib is None or (held.size.gpu_count and peaks.gpu_memory_mib is None)
    return Verdict.UNMEASURED if unknown else None


def _smaller(actor: Actor, workload: Workload, peaks: Peaks, held: Held, own: OwnPrices) -> list[Smaller]:
    """Cheapest first."""
    packages = list(funds.packages(actor))
    read_zones([*packages, workload.package])
    enough, had = needs(peaks, held.size), workload.package
    found = [
        _instead(package, workload, peaks, own)
        for package in packages
        if package.pk != had.pk
        and is_simulated(package) == workload.simulated
        and _would_do(package, peaks, held, enough)
        and _is_less(package, workload, held)
    ]
    return sorted(found, key=lambda each: (each.rate_fen_per_hour, each.weaker, each.package.sort))


def _would_do(package: Package, peaks: Peaks, held: Held, enough: Size) -> bool:
    size = size_of(package, held.card_memory_mib)
    if size.cpu_milli < enough.cpu_milli or size.memory_mib < enough.memory_mib:
        return False
    if not size.gpu_count:
        return not held.size.gpu_count or peaks.gpu_unused
    # What a card of one model did says nothing of another model.
    return (
        package.gpu_model == held.model
        and size.gpu_count == enough.gpu_count
        and size.gpu_memory_mib >= enough.gpu_memory_mib
        and size.gpu_core_milli >= enough.gpu_core_milli
    )


def _is_less(package: Package, workload: Workload, held: Held) -> bool:
    """Cheaper; where both are free, less of the cards."""
    if package.price is None:
        return False
    mine, its = workload.price_version.rate_fen_per_hour, package.price.rate_fen_per_hour
    size = size_of(package, held.card_memory_mib)
    less_card = size.gpu_count * size.gpu_core_milli < held.size.gpu_count * held.size.gpu_core_milli
    return its < mine or (its == mine == 0 and less_card)


def _instead(package: Package, workload: Workload, peaks: Peaks, own: OwnPrices) -> Smaller:
    members = workload.member_count
    rate = own.rate(package.price.rate_fen_per_hour) * members if package.price else Decimal(0)
    less = own.rate(workload.price_version.rate_fen_per_hour) * members - rate
    return Smaller(
        package=package,
        rate_fen_per_hour=rate,
        saved_fen=exact_fen(less, 1, timedelta(seconds=peaks.ran_s)),
        weaker=strength(package) > strength(workload.package),
    )


def strength(package: Package) -> int:
    """How well the package keeps its neighbours out: less is better."""
    return _STRENGTH[Isolation(package.isolation)]


def _told(found: list[Smaller]) -> tuple[Smaller, ...]:
    as_strong = next((each for each in found if not each.weaker), None)
    told = [each for each in (as_strong, found[0] if found else None) if each is not None]
    return tuple(dict.fromkeys(told))
