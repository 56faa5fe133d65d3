"""What a change of a price by the period does, before it is made: whose orders renew at it, about how much a month.

Two bases as for prices by the hour (`effects`), neither a forecast: the periods that were bought within the last 30
days, at the new price instead of the present one; and the orders that renew themselves. What was bought keeps its
price.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import timedelta
from decimal import Decimal
from typing import Any
from uuid import UUID

from django.db.models import Count, DecimalField, ExpressionWrapper, F, Q, Sum, Value

from apps.billing.changes.effects import DAYS, TOP
from apps.billing.changes.price_proposals import PeriodPrice
from apps.billing.changes.references import HOURS
from apps.billing.choices import PrepaidStatus, Term
from apps.billing.models import PrepaidOrder, PrepaidPurchase
from apps.billing.prepaid.selectors import term_price
from apps.billing.prices.discounts.selectors import in_force
from apps.billing.prices.packages.selectors import current_price
from apps.common.actor import Actor
from apps.common.clock import db_now
from apps.common.permissions import Permission

_EXACT = DecimalField(max_digits=38, decimal_places=14)
# Renewals of one order within the days that a month is counted as.
_RENEWALS = {Term.DAY: Decimal(DAYS), Term.MONTH: Decimal(1), Term.YEAR: Decimal(DAYS) / 365}


@dataclass(slots=True)
class PeriodTouched:
    """One organisation: its orders that are paid for now, those that renew themselves; fen a month by either basis."""

    organisation_id: UUID
    name: str
    orders: int = 0
    renewing: int = 0
    used_fen: Decimal = Decimal(0)
    now_fen: Decimal = Decimal(0)

    @property
    def weight(self) -> Decimal:
        return max(abs(self.used_fen), abs(self.now_fen))


@dataclass(frozen=True, slots=True)
class PeriodEffect:
    """`old` and `new` are fen for one period of one replica; None: not offered. `by_hour_fen`: what as many hours cost
    now (a month counts as 30 days, a year as 365); None: the package has no price by the hour.

    `used_fen`, `now_fen`: about how much more (below zero: less) comes in within 30 days, by what was bought in the
    last 30 days and by the orders that renew themselves.
    """

    term: Term
    old: int | None
    new: int | None
    by_hour_fen: int | None
    touched: tuple[PeriodTouched, ...]

    @property
    def organisations(self) -> int:
        return len(self.touched)

    @property
    def top(self) -> tuple[PeriodTouched, ...]:
        """Those that it touches most."""
        return tuple(sorted(self.touched, key=lambda each: (-each.weight, -each.orders, each.name))[:TOP])

    @property
    def orders(self) -> int:
        return sum(each.orders for each in self.touched)

    @property
    def renewing(self) -> int:
        return sum(each.renewing for each in self.touched)

    @property
    def used_fen(self) -> int:
        return round(sum((each.used_fen for each in self.touched), Decimal(0)))

    @property
    def now_fen(self) -> int:
        return round(sum((each.now_fen for each in self.touched), Decimal(0)))


def period_effect(actor: Actor, wanted: PeriodPrice) -> PeriodEffect:
    actor.require(Permission.PLATFORM_PRICES_VIEW)
    present, hourly = term_price(wanted.package_id, wanted.term), current_price(wanted.package_id)
    old, new = present.price_fen if present else None, wanted.price_fen
    by_hour = round(hourly.rate_fen_per_hour * HOURS[wanted.term]) if hourly else None
    touched = _touched(wanted.package_id, wanted.term, Decimal((new or 0) - (old or 0)))
    return PeriodEffect(wanted.term, old, new, by_hour, touched)


def _touched(package_id: int, term: Term, delta: Decimal) -> tuple[PeriodTouched, ...]:
    now = db_now()
    found: dict[UUID, PeriodTouched] = {}
    alive = PrepaidOrder.objects.filter(package_id=package_id, term=term, status=PrepaidStatus.ACTIVE)
    renewing = Q(auto_renew=True)
    for row in _grouped(
        alive.filter(covers_until__gt=now),
        count=Count("pk"),
        renews=Count("pk", filter=renewing),
        replicas=Sum("quantity", filter=renewing, default=0),
    ):
        each = found[row["organisation_id"]] = PeriodTouched(row["organisation_id"], row["organisation__name"])
        each.orders, each.renewing = row["count"], row["renews"]
        each.now_fen = row["replicas"] * _RENEWALS[term] * delta
    for discount in in_force(now).filter(organisation_id__in=list(found)):
        found[discount.organisation_id].now_fen *= 1 - discount.off
    kept = ExpressionWrapper(
        F("order__quantity") * F("periods") * (Value(Decimal(1)) - F("discount_off")), output_field=_EXACT
    )
    bought = PrepaidPurchase.objects.filter(order__package_id=package_id, order__term=term)
    for row in _grouped(bought.filter(created_at__gt=now - timedelta(days=DAYS)), amount=Sum(kept)):
        whose, name = row["organisation_id"], row["organisation__name"]
        found.setdefault(whose, PeriodTouched(whose, name)).used_fen = row["amount"] * delta
    return tuple(found.values())


def _grouped(rows: Any, **sums: Any) -> Iterable[dict[str, Any]]:
    grouped: Iterable[dict[str, Any]] = rows.values("organisation_id", "organisation__name").annotate(**sums).order_by()
    return grouped
