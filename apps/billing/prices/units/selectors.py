"""The price list, and what it makes of packages."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal

from django.db.models import Q, QuerySet

from apps.billing.choices import UnitItem
from apps.billing.models import Package, UnitPrice
from apps.billing.prices.pricelist import ListPrice, Resources, Unit, price_of
from apps.common.actor import Actor
from apps.common.clock import db_now
from apps.common.permissions import Permission


@dataclass(frozen=True, slots=True)
class ListedUnit:
    """A unit with the version in force and the one that is planned after it; `shown` is the first of them."""

    unit: Unit
    shown: UnitPrice
    now: UnitPrice | None
    planned: UnitPrice | None


def listed_units(actor: Actor) -> list[ListedUnit]:
    """Every unit with a present or planned price, in the order of the list."""
    actor.require(Permission.PLATFORM_PRICES_VIEW)
    now = db_now()
    rows = UnitPrice.objects.filter(_open_or_later(now)).order_by(
        "item", "gpu_model", "gpu_mode", "mig_profile", "number"
    )
    versions: dict[Unit, list[UnitPrice]] = {}
    for row in rows:
        versions.setdefault(unit_of(row), []).append(row)
    order = list(UnitItem)
    found = [_listed(unit, rows, now) for unit, rows in versions.items()]
    return sorted(found, key=lambda row: (order.index(row.unit.item), row.unit))


def unit_history(actor: Actor, unit: Unit) -> QuerySet[UnitPrice]:
    """All versions of a unit's price, newest first."""
    actor.require(Permission.PLATFORM_PRICES_VIEW)
    return versions_of(unit).order_by("-number")


def unit_price(actor: Actor, price_id: int) -> UnitPrice | None:
    actor.require(Permission.PLATFORM_PRICES_VIEW)
    return UnitPrice.objects.filter(pk=price_id).first()


def list_price(package: Package, at: datetime | None = None) -> ListPrice:
    """The price of one replica of a package by the list in force at a moment (default: now)."""
    return price_of(resources_of(package), prices_at(at or db_now()))


def prices_at(at: datetime) -> dict[Unit, tuple[Decimal, int]]:
    """Fen per hour and version number of every unit on the list at a moment."""
    rows = UnitPrice.objects.filter(_open_or_later(at), effective_from__lte=at)
    return {unit_of(row): (row.rate_fen_per_hour, row.number) for row in rows}


def packages_following_list() -> QuerySet[Package]:
    """Packages whose price follows the list."""
    return Package.objects.filter(follows_list=True)


def versions_of(unit: Unit) -> QuerySet[UnitPrice]:
    return UnitPrice.objects.filter(**unit._asdict())


def unit_of(row: UnitPrice) -> Unit:
    return Unit(UnitItem(row.item), row.gpu_model, row.gpu_mode, row.mig_profile)


def resources_of(package: Package) -> Resources:
    return Resources(**{name: getattr(package, name) for name in Resources.__dataclass_fields__})


def _listed(unit: Unit, rows: Sequence[UnitPrice], now: datetime) -> ListedUnit:
    current = next((row for row in rows if row.effective_from <= now), None)
    return ListedUnit(unit, rows[0], current, next((row for row in rows if row.effective_from > now), None))


def _open_or_later(at: datetime) -> Q:
    return Q(effective_to__isnull=True) | Q(effective_to__gt=at)
