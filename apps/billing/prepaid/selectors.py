"""Prepaid time as people read it: what is offered, what an order would cost, orders and what is left of them."""

from dataclasses import dataclass
from datetime import datetime, timedelta
from decimal import ROUND_FLOOR, Decimal
from uuid import UUID

from django.db.models import F, Q, QuerySet, Sum
from django.utils.translation import gettext_lazy as _

from apps.billing.choices import AccountKind, Term
from apps.billing.funds.quotes import wallet_row
from apps.billing.models import Account, PrepaidOrder, PrepaidPurchase, PriceVersion, TermPrice
from apps.billing.periods import period_start, price_of_rest, used_by
from apps.billing.prices.own import OwnPrices, own_prices
from apps.billing.prices.packages.selectors import current_price
from apps.billing.requests.selectors import usable_packages
from apps.common.actor import Actor
from apps.common.clock import db_now
from apps.common.errors import Conflict, Invalid, NotFound
from apps.common.permissions import Permission

# The most periods in one payment, and replicas in one order.
MOST_PERIODS = {Term.DAY: 366, Term.MONTH: 60, Term.YEAR: 5}
MOST_REPLICAS = 1000


def term_price(package_id: int, term: Term, at: datetime | None = None) -> TermPrice | None:
    """The version in force."""
    return term_prices(at).filter(package_id=package_id, term=term).first()


def term_prices(at: datetime | None = None) -> QuerySet[TermPrice]:
    at = at or db_now()
    open_or_later = Q(effective_to__isnull=True) | Q(effective_to__gt=at)
    rows: QuerySet[TermPrice] = TermPrice.objects.filter(open_or_later, effective_from__lte=at)
    return rows.select_related("package")


def term_price_history(actor: Actor, *, package_id: int) -> QuerySet[TermPrice]:
    """All versions of a package, newest first."""
    actor.require(Permission.PLATFORM_PRICES_VIEW)
    return TermPrice.objects.filter(package_id=package_id).order_by("-effective_from", "-pk")


def offers(actor: Actor) -> QuerySet[TermPrice]:
    """Prices by the period of all packages that the actor may start on, in the packages' order."""
    actor.require(Permission.BILLING_VIEW_OWN)
    rows = term_prices().filter(package__in=usable_packages(actor))
    return rows.order_by("package__sort", "package_id", "price_fen")


@dataclass(frozen=True, slots=True)
class PrepaidQuote:
    """What periods [first, first + periods) of an order would cost. Money in fen.

    `amount_fen` is `list_fen` with the organisation's discount of this moment taken off. `by_hour_fen`: the same time
    by the hour, running throughout, with the same discount; None where the package has no price by the hour.
    """

    price: TermPrice
    quantity: int
    periods: int
    starts_at: datetime
    ends_at: datetime
    list_fen: int
    discount_off: Decimal
    amount_fen: int
    by_hour_fen: int | None
    available_fen: int

    @property
    def saved_fen(self) -> int:
        """Less than by the hour; zero where it is not."""
        return max((self.by_hour_fen or 0) - self.amount_fen, 0)

    @property
    def saved_percent(self) -> int:
        return self.saved_fen * 100 // self.by_hour_fen if self.by_hour_fen else 0

    @property
    def worth_hours(self) -> int | None:
        """After so many hours in use it is cheaper than by the hour; None where it never is."""
        if not self.by_hour_fen or self.amount_fen >= self.by_hour_fen:
            return None
        hours = (self.ends_at - self.starts_at).total_seconds() / 3600
        return int(hours * self.amount_fen / self.by_hour_fen) + 1

    @property
    def shortfall_fen(self) -> int:
        return max(self.amount_fen - self.available_fen, 0)


def prepaid_quote(actor: Actor, *, package_id: int, term: Term, quantity: int = 1, periods: int = 1) -> PrepaidQuote:
    """A new order that begins now. Raises `Invalid` for numbers out of range, `Conflict` where it is not offered."""
    actor.require(Permission.BILLING_VIEW_OWN)
    check_size(term, quantity=quantity, periods=periods)
    if not usable_packages(actor).filter(pk=package_id).exists():
        raise NotFound
    return _quoted(actor.organisation(), (package_id, term, quantity), db_now(), 0, periods)


def renewal_quote(order: PrepaidOrder, *, periods: int = 1) -> PrepaidQuote:
    """The order's next periods at the price in force. The caller has checked that the actor may see it."""
    term = Term(order.term)
    check_size(term, quantity=order.quantity, periods=periods)
    return _quoted(
        order.organisation_id, (order.package_id, term, order.quantity), order.anchor, next_period(order), periods
    )


def _quoted(
    organisation_id: UUID, what: tuple[int, Term, int], anchor: datetime, first: int, periods: int
) -> PrepaidQuote:
    package_id, term, quantity = what
    price, own = offer_to(organisation_id, package_id, term)
    listed = price.price_fen * quantity * periods
    start = period_start(anchor, term, first)
    end = period_start(anchor, term, first + periods)
    return PrepaidQuote(
        price=price,
        quantity=quantity,
        periods=periods,
        starts_at=start,
        ends_at=end,
        list_fen=listed,
        discount_off=own.off,
        amount_fen=own.paid_ahead(listed),
        by_hour_fen=_by_hour(current_price(package_id), own, quantity, end - start),
        available_fen=wallet_row(organisation_id).available_fen,
    )


def _by_hour(price: PriceVersion | None, own: OwnPrices, quantity: int, length: timedelta) -> int | None:
    if price is None:
        return None
    hours = Decimal(int(length.total_seconds())) / 3600
    return int((own.rate(price.rate_fen_per_hour) * quantity * hours).to_integral_value(rounding=ROUND_FLOOR))


def offer_to(organisation_id: UUID, package_id: int, term: Term) -> tuple[TermPrice, OwnPrices]:
    """What is listed and what the organisation pays of it now.

    Raises `Conflict` where the package is not sold for this term, or the organisation pays for nothing anyway.
    """
    price, own = offered_price(package_id, term), own_prices(organisation_id, db_now())
    if own.all_free:
        raise Conflict(_("Nothing costs your organisation anything: there is nothing to pay in advance."))
    return price, own


def offered_price(package_id: int, term: Term) -> TermPrice:
    """Raises `Conflict` where the package is not sold for this term now."""
    price = term_price(package_id, term)
    if price is None or not price.package.active:
        raise Conflict(_("This package is not offered for this term."), hint=_("Choose another term or package."))
    return price


def check_size(term: Term, *, quantity: int, periods: int) -> None:
    """Raise `Invalid` beside the field that is wrong."""
    if term not in MOST_PERIODS:
        raise Invalid.field("term", _("Choose day, month or year."))
    if not 1 <= quantity <= MOST_REPLICAS:
        raise Invalid.field("quantity", _("Choose from 1 to %(most)s.") % {"most": MOST_REPLICAS})
    if not 1 <= periods <= MOST_PERIODS[term]:
        raise Invalid.field("periods", _("Choose from 1 to %(most)s.") % {"most": MOST_PERIODS[term]})


def next_period(order: PrepaidOrder) -> int:
    """The number of the first period that is not paid yet."""
    last = order.purchases.order_by("-number").first()
    return 0 if last is None else last.first_period + last.periods


def prepaid_orders(actor: Actor) -> QuerySet[PrepaidOrder]:
    """The organisation's (BILLING_VIEW), or everybody's for the platform's finance staff; newest first.

    Each with `listed_fen`, `paid_fen`, `earned_fen`, `given_back_fen` and `left_fen`, the sums of its purchases.
    """
    actor.require(Permission.PLATFORM_FINANCE_VIEW if actor.platform else Permission.BILLING_VIEW)
    rows: QuerySet[PrepaidOrder] = PrepaidOrder.objects.annotate(
        listed_fen=Sum("purchases__list_fen", default=0),
        paid_fen=Sum("purchases__amount_fen", default=0),
        earned_fen=Sum("purchases__recognised_fen", default=0),
        given_back_fen=Sum("purchases__returned_fen", default=0),
    ).annotate(left_fen=F("paid_fen") - F("earned_fen") - F("given_back_fen"))
    return rows.select_related("package", "user", "organisation").order_by("-created_at", "-pk")


def prepaid_order(actor: Actor, order_id: UUID) -> PrepaidOrder:
    """One of them; `NotFound` otherwise."""
    found = prepaid_orders(actor).select_related("replaces__package").filter(pk=order_id).first()
    if found is None:
        raise NotFound
    return found


def purchases(order: PrepaidOrder) -> list[PrepaidPurchase]:
    """Newest first."""
    return list(order.purchases.select_related("price").order_by("-number"))


def refundable_fen(order: PrepaidOrder, at: datetime | None = None) -> int:
    """What giving the order back at this moment would return to the wallet."""
    at = at or db_now()
    return sum(unused_fen(each, at) for each in order.purchases.filter(cut_at__isnull=True))


def unused_fen(purchase: PrepaidPurchase, at: datetime) -> int:
    return purchase.amount_fen - used_by(purchase.amount_fen, purchase.starts_at, purchase.ends_at, at)


def rest_fen(order: PrepaidOrder, price: TermPrice, at: datetime | None = None) -> int:
    """What one replica at `price`, less today's discount, would cost for the time that is left of the order."""
    at, term = at or db_now(), Term(order.term)
    own = own_prices(order.organisation_id, at)
    parts = order.purchases.filter(cut_at__isnull=True, ends_at__gt=at)
    starts = [(part, period_start(order.anchor, term, part.first_period)) for part in parts]
    listed = [price_of_rest(price.price_fen * part.periods, start, part.ends_at, at) for part, start in starts]
    return sum(own.paid_ahead(fen) for fen in listed)


@dataclass(frozen=True, slots=True)
class PrepaidDrift:
    """An organisation whose deferred account is not what its purchases have left (fen)."""

    organisation_id: UUID
    balance_fen: int
    left_fen: int


def prepaid_drift() -> list[PrepaidDrift]:
    """The deferred accounts checked against the purchases. Must be empty, always."""
    sums = PrepaidPurchase.objects.order_by().values_list("organisation_id")
    left = dict(sums.annotate(left=Sum(F("amount_fen") - F("recognised_fen") - F("returned_fen"))))
    accounts = Account.objects.filter(kind=AccountKind.DEFERRED).values_list("organisation_id", "balance_fen")
    return [PrepaidDrift(who, fen, left.get(who, 0)) for who, fen in accounts if fen != left.get(who, 0)]
