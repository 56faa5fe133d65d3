"""What a change of prices does, before it is made: whom it touches and about how much a month it moves.

Two bases, neither a forecast: the hours that were charged within the last 30 days, at the new price instead of the
present one; and what runs or is stored now, for 30 days on end. What a prepaid order covers costs nothing by the hour
and counts in neither sum.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from decimal import Decimal
from typing import Any
from uuid import UUID

from django.db.models import Count, DecimalField, ExpressionWrapper, F, QuerySet, Sum, Value

from apps.billing.changes.price_proposals import ListedPrice, PackagePrice, StoragePrice
from apps.billing.changes.proposals import NewDiscount
from apps.billing.choices import Resource
from apps.billing.days import billing_day
from apps.billing.models import DaySum, Discount, MeterSession, Package
from apps.billing.prices.discounts.selectors import discount_at, in_force
from apps.billing.prices.packages.selectors import current_price
from apps.billing.prices.pricelist import Unit, price_of
from apps.billing.prices.units.selectors import packages_following_list, prices_at, resources_of
from apps.billing.storage.selectors import storage_package, storage_price
from apps.common.actor import Actor
from apps.common.clock import db_now
from apps.common.permissions import Permission
from apps.tenants.models import Organisation

DAYS = 30
HOURS = Decimal(DAYS * 24)
HOUR_SECONDS = Decimal(3600)
TOP = 5
_EXACT = DecimalField(max_digits=38, decimal_places=14)
_KEPT = ExpressionWrapper(Value(Decimal(1)) - F("discount_off"), output_field=_EXACT)


@dataclass(frozen=True, slots=True)
class Step:
    """One price, in fen per hour; `old` None: it has none now."""

    label: Package | None
    old: Decimal | None
    new: Decimal


@dataclass(slots=True)
class Touched:
    """One organisation: fen a month by either basis, below zero where it pays less."""

    organisation_id: UUID
    name: str
    running: int = 0
    stored_gib: int = 0
    used_fen: Decimal = Decimal(0)
    now_fen: Decimal = Decimal(0)

    @property
    def weight(self) -> Decimal:
        return max(abs(self.used_fen), abs(self.now_fen))


@dataclass(frozen=True, slots=True)
class Effect:
    """`old` and `new` are fen per hour, of a discount shares of 1. `steps` are the packages whose price changes.

    `used_fen`, `now_fen`: about how much more (below zero: less) the platform takes in 30 days, by what was used in the
    last 30 days and by what runs or is stored now. `keeps`: what runs keeps its price. `starts` None: at once.
    """

    old: Decimal | None
    new: Decimal
    steps: tuple[Step, ...]
    touched: tuple[Touched, ...]
    keeps: bool
    starts: datetime | None
    unused: bool = False

    @property
    def organisations(self) -> int:
        return len(self.touched)

    @property
    def top(self) -> tuple[Touched, ...]:
        """Those that it touches most."""
        return tuple(sorted(self.touched, key=lambda each: (-each.weight, each.name))[:TOP])

    @property
    def running(self) -> int:
        return sum(each.running for each in self.touched)

    @property
    def stored_gib(self) -> int:
        return sum(each.stored_gib for each in self.touched)

    @property
    def used_fen(self) -> int:
        return round(sum((each.used_fen for each in self.touched), Decimal(0)))

    @property
    def now_fen(self) -> int:
        return round(sum((each.now_fen for each in self.touched), Decimal(0)))


def package_effect(actor: Actor, wanted: PackagePrice) -> Effect:
    actor.require(Permission.PLATFORM_PRICES_VIEW)
    present, package = current_price(wanted.package_id), wanted.package()
    old = present.rate_fen_per_hour if present else None
    step = Step(package, old, wanted.rate_fen_per_hour)
    return Effect(old, step.new, (step,), _by_packages([step]), keeps=True, starts=wanted.effective_from)


def unit_effect(actor: Actor, wanted: ListedPrice) -> Effect:
    """Of every package that follows the list and takes the unit."""
    actor.require(Permission.PLATFORM_PRICES_VIEW)
    prices, unit = prices_at(wanted.effective_from or db_now()), wanted.unit
    present = prices.get(unit) or prices.get(unit._replace(gpu_model=""))
    changed = {**prices, unit: (wanted.rate_fen_per_hour, 0)}
    steps = []
    for package in packages_following_list().order_by("sort", "pk"):
        resources, price = resources_of(package), current_price(package.pk)
        after = price_of(resources, changed)
        if after.complete and after.rate != (old := price.rate_fen_per_hour if price else None):
            steps.append(Step(package, old, after.rate))
    return Effect(
        present[0] if present else None,
        wanted.rate_fen_per_hour,
        tuple(steps),
        _by_packages(steps),
        keeps=True,
        starts=wanted.effective_from,
        unused=not is_used(unit),
    )


def is_used(unit: Unit) -> bool:
    """Whether any package on offer takes the unit, whether or not its price follows the list."""
    only = {unit: (Decimal(1), 0)}
    packages = Package.objects.filter(active=True, resource=Resource.COMPUTE)
    return any(line.quantity for package in packages for line in price_of(resources_of(package), only).lines)


def storage_effect(actor: Actor, wanted: StoragePrice, stored: Mapping[UUID, int] | None = None) -> Effect:
    """Everybody's data, from the moment on. `stored`: GiB of each organisation; None: what is metered."""
    actor.require(Permission.PLATFORM_PRICES_VIEW)
    now, package = db_now(), storage_package()
    present = storage_price(now)
    old = present.rate_fen_per_hour if present else None
    step = Step(package, old, wanted.rate_fen_per_hour)
    found: dict[UUID, Touched] = {each.organisation_id: each for each in _by_packages([step])} if package else {}
    for each in found.values():
        each.running, each.now_fen = 0, Decimal(0)
    gib = dict(stored) if stored is not None else _metered_gib()
    offs = {each.organisation_id: each.off for each in in_force(now).filter(organisation_id__in=gib)}
    names = _names(gib)
    for organisation_id, size in gib.items():
        each = found.setdefault(organisation_id, Touched(organisation_id, names.get(organisation_id, "")))
        each.stored_gib = size
        each.now_fen = size * HOURS * (step.new - (old or 0)) * (1 - offs.get(organisation_id, Decimal(0)))
    return Effect(old, step.new, (), tuple(found.values()), keeps=False, starts=wanted.effective_from)


def discount_effect(actor: Actor, wanted: NewDiscount) -> Effect:
    """One organisation's prices. `steps`: the packages that it used most, at its own price before and after."""
    actor.require(Permission.PLATFORM_PRICES_VIEW)
    held: Discount | None = discount_at(wanted.organisation_id, wanted.effective_from or db_now())
    old, new = held.off if held else Decimal(0), wanted.off
    mine = DaySum.objects.filter(organisation_id=wanted.organisation_id, day__gt=_since())
    listed = ExpressionWrapper(F("replica_seconds") * F("price_version__rate_fen_per_hour"), output_field=_EXACT)
    used = (mine.aggregate(fen=Sum(listed))["fen"] or Decimal(0)) / HOUR_SECONDS
    running = _open(MeterSession.objects.filter(organisation_id=wanted.organisation_id))
    per_hour = ExpressionWrapper(F("replicas") * F("price_version__rate_fen_per_hour"), output_field=_EXACT)
    burn = running.aggregate(fen=Sum(per_hour))["fen"] or Decimal(0)
    touched = Touched(
        wanted.organisation_id,
        _names([wanted.organisation_id]).get(wanted.organisation_id, ""),
        running=running.filter(resource=Resource.COMPUTE).values("workload_id").distinct().count(),
        used_fen=used * (old - new),
        now_fen=burn * HOURS * (old - new),
    )
    steps = tuple(Step(each, rate * (1 - old), rate * (1 - new)) for each, rate in _most_used(mine))
    return Effect(old, new, steps, (touched,), keeps=True, starts=wanted.effective_from)


def _most_used(sums: QuerySet[DaySum]) -> list[tuple[Package, Decimal]]:
    """Up to three packages by what they cost, with their prices; without any use, the first on offer."""
    rows = sums.values("price_version__package_id").annotate(fen=Sum("exact_fen")).order_by("-fen")
    ids = [row["price_version__package_id"] for row in rows[:3]]
    if not ids:
        offered = Package.objects.filter(active=True, resource=Resource.COMPUTE, prices__effective_to__isnull=True)
        ids = list(offered.order_by("sort", "pk").values_list("pk", flat=True).distinct()[:1])
    prices = {price.package_id: price for price in map(current_price, ids) if price is not None}
    return [(prices[pk].package, prices[pk].rate_fen_per_hour) for pk in ids if pk in prices]


def _by_packages(steps: Iterable[Step]) -> tuple[Touched, ...]:
    """Whoever used one of the packages within the days, or runs on it."""
    deltas = {step.label.pk: step.new - (step.old or 0) for step in steps if step.label is not None}
    found: dict[UUID, Touched] = {}
    weighed = ExpressionWrapper(F("replica_seconds") * _KEPT, output_field=_EXACT)
    used = DaySum.objects.filter(price_version__package_id__in=deltas, day__gt=_since())
    for row in _grouped(used, amount=Sum(weighed)):
        each = found.setdefault(row["organisation_id"], Touched(row["organisation_id"], row["organisation__name"]))
        each.used_fen += row["amount"] / HOUR_SECONDS * deltas[row["price_version__package_id"]]
    replicas = ExpressionWrapper(F("replicas") * _KEPT, output_field=_EXACT)
    running = _open(MeterSession.objects.filter(price_version__package_id__in=deltas))
    for row in _grouped(running, amount=Sum(replicas), count=Count("workload_id", distinct=True)):
        each = found.setdefault(row["organisation_id"], Touched(row["organisation_id"], row["organisation__name"]))
        each.running += row["count"]
        each.now_fen += row["amount"] * HOURS * deltas[row["price_version__package_id"]]
    return tuple(found.values())


def _grouped(rows: Any, **sums: Any) -> Iterable[dict[str, Any]]:
    grouped = rows.values("organisation_id", "organisation__name", "price_version__package_id").annotate(**sums)
    found: Iterable[dict[str, Any]] = grouped.order_by()
    return found


def _open(rows: QuerySet[MeterSession]) -> QuerySet[MeterSession]:
    return rows.filter(closed_at__isnull=True, settled=False)


def _metered_gib() -> dict[UUID, int]:
    rows = _open(MeterSession.objects.filter(resource=Resource.STORAGE))
    return dict(rows.values("organisation_id").annotate(gib=Sum("replicas")).values_list("organisation_id", "gib"))


def _names(ids: Iterable[UUID]) -> dict[UUID, str]:
    return dict(Organisation.objects.filter(pk__in=list(ids)).values_list("pk", "name"))


def _since() -> Any:
    return billing_day(db_now()) - timedelta(days=DAYS)
