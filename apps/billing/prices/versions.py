"""Versions of a package's price, and the rules that every price keeps."""

from collections.abc import Sequence
from datetime import datetime
from decimal import Decimal
from typing import Any, Generic, NamedTuple, TypeVar

from django.db import transaction
from django.utils.translation import gettext_lazy as _

from apps.audit.services import Target, record
from apps.billing.models import Package, PriceVersion, UnitPrice
from apps.billing.prices.pricelist import PriceLine
from apps.common.actor import Actor
from apps.common.clock import db_now
from apps.common.errors import Conflict, Invalid, NotFound
from apps.common.permissions import Permission

# Rates are stored as numeric(20, 10); a million yuan an hour is beyond any card and far below the column's end.
RATE_MAX = Decimal(100_000_000)
PLACES = -10
Version = TypeVar("Version", PriceVersion, UnitPrice)


class Priced(NamedTuple, Generic[Version]):
    """The version that holds. `new` False: it held already at that price, and nothing was written."""

    version: Version
    new: bool


def set_price(
    actor: Actor, *, package_id: int, rate_fen_per_hour: Decimal, effective_from: datetime | None = None
) -> Priced[PriceVersion]:
    """A new price version from `effective_from` (now); the former one ends at that instant.

    Where the version in force then has this rate already, set by somebody and without an end, that one. Fen per hour of
    one replica, 0 to RATE_MAX with at most ten places. Raises Invalid for a rate outside that or a time gone by,
    Conflict when a later price is already planned or the package follows the price list.
    """
    actor.require(Permission.PLATFORM_PRICES_MANAGE)
    check_rate(rate_fen_per_hour)
    with transaction.atomic():
        package = locked_package(package_id)
        if package.follows_list:
            raise Conflict(
                _("This package follows the price list: change the list, or let it have a price of its own.")
            )
        start, last = checked_start(effective_from), package.prices.order_by("-number").first()
        if last is not None and last.basis is None and already_in_force(last, rate_fen_per_hour, start):
            return Priced(last, new=False)
        return Priced(write_price(actor, package, rate_fen_per_hour, start), new=True)


def write_price(
    actor: Actor, package: Package, rate: Decimal, start: datetime, *, lines: Sequence[PriceLine] | None = None
) -> PriceVersion:
    """Write the version for a locked package. `lines`: its composition by the price list."""
    former = package.prices.order_by("-number").first()
    _close(package, former, start)
    price: PriceVersion = PriceVersion.objects.create(
        package=package,
        number=former.number + 1 if former else 1,
        rate_fen_per_hour=rate,
        effective_from=start,
        basis=None if lines is None else [line.as_json() for line in lines],
    )
    log_package(actor, "billing.price.set", package, _audit_values(former), _audit_values(price))
    return price


def already_in_force(version: PriceVersion | UnitPrice, rate: Decimal, at: datetime) -> bool:
    """Whether it is in force then at this rate without an end, so that setting it again would change nothing."""
    return version.effective_from <= at and version.effective_to is None and version.rate_fen_per_hour == rate


def check_rate(rate: Decimal) -> None:
    """Raises Invalid."""
    if not rate.is_finite() or not 0 <= rate <= RATE_MAX:
        raise Invalid.field("rate", _("A price is between ¥0 and ¥1,000,000 an hour."))
    exponent = rate.normalize().as_tuple().exponent
    if isinstance(exponent, int) and exponent < PLACES:
        raise Invalid.field("rate", _("A price has at most ten decimal places of a fen."))


def checked_start(effective_from: datetime | None) -> datetime:
    """None: now. Raises Invalid for a time gone by."""
    now = db_now()
    start = effective_from or now
    if start < now:
        raise Invalid.field("effective_from", _("A price cannot begin in the past."))
    return start


def _close(package: Package, former: PriceVersion | None, at: datetime) -> None:
    if former is None or (former.effective_to is not None and former.effective_to <= at):
        return
    if former.effective_to is not None or former.effective_from > at:
        raise Conflict(_("A later price is already planned for the package %(name)s.") % {"name": package.name_en})
    former.effective_to = at
    former.save(update_fields=["effective_to"])


def locked_package(package_id: int) -> Package:
    package = Package.objects.select_for_update(no_key=True).filter(pk=package_id).first()
    if package is None:
        raise NotFound
    return package


def _audit_values(price: PriceVersion | None) -> dict[str, Any]:
    if price is None:
        return {}
    return {
        "number": price.number,
        "rate_fen_per_hour": str(price.rate_fen_per_hour),
        "effective_from": price.effective_from.isoformat(),
    }


def log_package(actor: Actor, action: str, package: Package, before: dict[str, Any], after: dict[str, Any]) -> None:
    target = Target("package", str(package.pk), package.name_en)
    record(actor, action=action, target=target, before=before, after=after)
