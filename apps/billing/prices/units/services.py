"""The price list: prices of units, and the packages whose price follows them."""

from collections.abc import Mapping
from datetime import datetime
from decimal import Decimal
from typing import Any

from django.db import IntegrityError, transaction
from django.utils.translation import gettext_lazy as _

from apps.audit.services import Target, record
from apps.billing.choices import SLICED_BY_MEMORY, GpuMode, Resource, UnitItem
from apps.billing.models import Package, PriceVersion, UnitPrice
from apps.billing.prices.pricelist import ListPrice, Unit, price_of
from apps.billing.prices.units.selectors import packages_following_list, prices_at, resources_of, versions_of
from apps.billing.prices.versions import (
    Priced,
    already_in_force,
    check_rate,
    checked_start,
    locked_package,
    log_package,
    write_price,
)
from apps.common.actor import Actor
from apps.common.clock import db_now
from apps.common.errors import Conflict, Invalid, NotFound, Text
from apps.common.permissions import Permission


def set_unit_price(
    actor: Actor, *, unit: Unit, rate_fen_per_hour: Decimal, effective_from: datetime | None = None
) -> Priced[UnitPrice]:
    """A new version from `effective_from` (now), also for every package that follows the list and is affected.

    Where the version in force then has this rate already and no end, that one. Raises Invalid for a unit or a rate that
    cannot be or a time gone by, Conflict where a later price of the unit or of one of the packages is planned already;
    nothing is changed then.
    """
    actor.require(Permission.PLATFORM_PRICES_MANAGE)
    check_unit(unit)
    check_rate(rate_fen_per_hour)
    with transaction.atomic():
        start = checked_start(effective_from)
        former = _last(unit)
        if former is not None and already_in_force(former, rate_fen_per_hour, start):
            return Priced(former, new=False)
        _close(former, start)
        price = _write(unit, former, rate_fen_per_hour, start)
        _log(actor, "billing.unit_price.set", price, former)
        _reprice(actor, start)
        return Priced(price, new=True)


def end_unit_price(actor: Actor, *, price_id: int) -> None:
    """Take a unit off the list from now on.

    Conflict where a package that follows the list needs it, or a later price of it is planned.
    """
    actor.require(Permission.PLATFORM_PRICES_MANAGE)
    with transaction.atomic():
        price = UnitPrice.objects.select_for_update(no_key=True).filter(pk=price_id).first()
        if price is None:
            raise NotFound
        if price.effective_to is not None:
            return
        now = db_now()
        if price.effective_from > now:
            raise Conflict(_("A later price of this is already planned."))
        price.effective_to = now
        price.save(update_fields=["effective_to"])
        _log(actor, "billing.unit_price.end", price, price)
        _reprice(actor, now)


def follow_price_list(actor: Actor, *, package_id: int, follows: bool) -> PriceVersion | None:
    """Let a package's price follow the list from now on, or keep the price that it has; the new version, if any.

    Raises Conflict where the list lacks a price that the package needs, or a later price is planned.
    """
    actor.require(Permission.PLATFORM_PRICES_MANAGE)
    with transaction.atomic():
        package = locked_package(package_id)
        if package.resource != Resource.COMPUTE:
            raise Conflict(_("Storage has a price of its own."))
        if package.follows_list == follows:
            return None
        package.follows_list = follows
        package.save(update_fields=["follows_list"])
        log_package(actor, "billing.package.update", package, {"follows_list": not follows}, {"follows_list": follows})
        return reprice(actor, package) if follows else None


def reprice(actor: Actor, package: Package) -> PriceVersion | None:
    """Reprice a locked package that follows the list; None if it has that price already."""
    now = db_now()
    return _priced(actor, package, price_of(resources_of(package), prices_at(now)), now)


def check_unit(unit: Unit) -> None:
    """Raises Invalid beside the field that is wrong."""
    card = unit.item in (UnitItem.GPU, UnitItem.GPU_MEMORY)
    rules: Mapping[str, tuple[bool, Text]] = {
        "item": (unit.item not in UnitItem.values, _("Choose what the price is for.")),
        "gpu_mode": (bool(unit.gpu_mode) != card or not _fits(unit), _("Choose how the card is given out.")),
        "gpu_model": (bool(unit.gpu_model) and not card, _("Only GPUs have a model.")),
        "mig_profile": (
            bool(unit.mig_profile) != (unit.gpu_mode == GpuMode.MIG),
            _("Name the MIG profile in MIG mode, and only there."),
        ),
    }
    wrong = {name: words for name, (broken, words) in rules.items() if broken}
    if wrong:
        raise Invalid(next(iter(wrong.values())), fields=wrong)


def _fits(unit: Unit) -> bool:
    if unit.item == UnitItem.GPU_MEMORY:
        return unit.gpu_mode in SLICED_BY_MEMORY
    return not unit.gpu_mode or unit.gpu_mode in GpuMode.values


def _last(unit: Unit) -> UnitPrice | None:
    """The newest version, locked."""
    found: UnitPrice | None = versions_of(unit).select_for_update(no_key=True).order_by("-number").first()
    return found


def _close(former: UnitPrice | None, start: datetime) -> None:
    if former is None or (former.effective_to is not None and former.effective_to <= start):
        return
    if former.effective_to is not None or former.effective_from > start:
        raise Conflict(_("A later price of this is already planned."))
    former.effective_to = start
    former.save(update_fields=["effective_to"])


def _write(unit: Unit, former: UnitPrice | None, rate: Decimal, start: datetime) -> UnitPrice:
    number = former.number + 1 if former else 1
    try:
        with transaction.atomic():
            written: UnitPrice = UnitPrice.objects.create(
                **unit._asdict(), number=number, rate_fen_per_hour=rate, effective_from=start
            )
    except IntegrityError as error:  # two set the first price of one unit at the same moment
        raise Conflict(_("Somebody else has just set this price.")) from error
    return written


def _reprice(actor: Actor, at: datetime) -> None:
    """Reprice every package that follows the list by the prices in force at that moment."""
    prices = prices_at(at)
    for package in packages_following_list().select_for_update(no_key=True).order_by("pk"):
        _priced(actor, package, price_of(resources_of(package), prices), at)


def _priced(actor: Actor, package: Package, made: ListPrice, at: datetime) -> PriceVersion | None:
    if not made.complete:
        raise Conflict(
            _("The price list has no price for all that the package %(name)s takes.") % {"name": package.name_en}
        )
    check_rate(made.rate)
    newest = package.prices.order_by("-number").first()
    if newest is not None and newest.basis is not None and already_in_force(newest, made.rate, at):
        return None
    return write_price(actor, package, made.rate, at, lines=made.lines)


def _log(actor: Actor, action: str, price: UnitPrice, former: UnitPrice | None) -> None:
    name = " ".join(filter(None, (price.item, price.gpu_model, price.gpu_mode, price.mig_profile)))
    before = {} if former is None else _audit_values(former)
    record(
        actor,
        action=action,
        target=Target("unit_price", str(price.pk), name),
        before=before,
        after=_audit_values(price),
    )


def _audit_values(price: UnitPrice) -> dict[str, Any]:
    end = price.effective_to.isoformat() if price.effective_to else None
    rate, start = str(price.rate_fen_per_hour), price.effective_from.isoformat()
    return {"number": price.number, "rate_fen_per_hour": rate, "effective_from": start, "effective_to": end}
