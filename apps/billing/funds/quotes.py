"""What a start would cost, before it starts."""

from dataclasses import dataclass
from datetime import datetime, timedelta
from decimal import Decimal
from uuid import UUID

from django.utils.translation import gettext_lazy as _

from apps.billing.choices import BLOCKING, AccountKind, ArrearsStatus
from apps.billing.metering.covering import prepaid_until
from apps.billing.metering.selectors import burn_fen_per_hour
from apps.billing.models import Account, ArrearsState, Package, PriceVersion
from apps.billing.prices.own import OwnPrices, own_prices
from apps.billing.prices.packages.selectors import current_price
from apps.billing.purses.selectors import Backing, backing, funds_with_vouchers
from apps.common.actor import Actor
from apps.common.clock import db_now, once_a_moment
from apps.common.errors import Conflict, Invalid
from apps.common.permissions import Permission

FOREVER_HOURS = 24 * 3650


@dataclass(frozen=True, slots=True)
class Quote:
    """The answer beside the start button. Rates are fen per hour of all replicas together.

    `list_rate_fen_per_hour` is before the organisation's discount, of which `discount_off` is taken off. A start sets
    aside `hold_fen`, the price of its first hour: vouchers that fit cover `covered_fen` of it, the rest must be
    available. `runs_until` is when vouchers that fit, balance and credit would be used up by everything the
    organisation runs, this included; None when it costs nothing, would last ten years, or cannot start.

    `prepaid_until`: a prepaid order has room for it, so it costs nothing and holds nothing until then, whatever the
    wallet has; the rate is what it would cost by the hour.
    """

    package_id: int
    replicas: int
    rate_fen_per_hour: Decimal
    price_version_id: int
    price_number: int
    balance_fen: int
    held_fen: int
    available_fen: int
    hold_fen: int
    burn_fen_per_hour: Decimal
    runs_until: datetime | None
    shortfall_fen: int
    blocked: ArrearsStatus | None
    list_rate_fen_per_hour: Decimal = Decimal(0)
    discount_off: Decimal = Decimal(0)
    covered_fen: int = 0
    vouchers_fen: int = 0
    prepaid_until: datetime | None = None

    @property
    def can_start(self) -> bool:
        return self.shortfall_fen == 0 and self.blocked is None


def quote(actor: Actor, *, package_id: int, replicas: int = 1, price: PriceVersion | None = None) -> Quote:
    """Raises Invalid for fewer than one replica, Conflict for a package that is not on offer or has no price.

    `price`: the one in force, where it was read at this moment.
    """
    actor.require(Permission.BILLING_VIEW_OWN)
    if replicas < 1:
        raise Invalid.field("replicas", _("At least one is needed."))
    price = _offered(price or current_price(package_id))
    organisation_id = actor.organisation()
    wallet = wallet_row(organisation_id)
    own, backed = own_prices(organisation_id, db_now()), backing(organisation_id)
    prepaid = prepaid_until(organisation_id, package_id, replicas)
    hold = 0 if prepaid else own.hour(price.rate_fen_per_hour, replicas)
    vouchers = backed.free_fen(price.package)
    covered = min(hold, vouchers)
    shortfall = max(hold - covered - wallet.available_fen, 0) if hold > covered else 0
    blocked = blocking_arrears(organisation_id) if hold else None
    rate, burn = own.rate(price.rate_fen_per_hour) * replicas, burn_fen_per_hour(organisation_id)
    return Quote(
        package_id=package_id,
        replicas=replicas,
        rate_fen_per_hour=rate,
        price_version_id=price.pk,
        price_number=price.number,
        balance_fen=wallet.balance_fen,
        held_fen=wallet.held_fen,
        available_fen=wallet.available_fen,
        hold_fen=hold,
        burn_fen_per_hour=burn,
        runs_until=None if shortfall or blocked else _runs_until(wallet, burn, None if prepaid else price, rate),
        shortfall_fen=shortfall,
        blocked=blocked,
        list_rate_fen_per_hour=price.rate_fen_per_hour * replicas,
        discount_off=own.off,
        covered_fen=covered,
        vouchers_fen=vouchers,
        prepaid_until=prepaid,
    )


def _offered(price: PriceVersion | None) -> PriceVersion:
    if price is None or not price.package.active:
        raise Conflict(_("This package is not on offer."), hint=_("Choose another package."))
    return price


def _runs_until(wallet: Account, burn: Decimal, price: PriceVersion | None, rate: Decimal) -> datetime | None:
    """With all that runs, and `rate` of a start that is not prepaid; vouchers that fit any of it count whole."""
    package = price.package if price and rate else None
    together = burn + rate if package else burn
    if not together or wallet.organisation_id is None:
        return None
    return lasts_until(funds_with_vouchers(wallet.organisation_id, wallet.funds_fen, package), together)


def wallet_row(organisation_id: UUID) -> Account:
    """The wallet, or an empty one that is not saved: looking does not open accounts."""
    return wallet_and_vouchers(organisation_id)[0]


@once_a_moment
def wallet_and_vouchers(organisation_id: UUID) -> tuple[Account, int]:
    """The wallet and what is left of all vouchers, in one query."""
    kinds = (AccountKind.CASH, AccountKind.VOUCHER)
    rows = {row.kind: row for row in Account.objects.filter(organisation_id=organisation_id, kind__in=kinds)}
    empty = Account(organisation_id=organisation_id, kind=AccountKind.CASH)
    vouchers = rows.get(AccountKind.VOUCHER)
    return rows.get(AccountKind.CASH, empty), vouchers.balance_fen if vouchers else 0


@dataclass(frozen=True, slots=True)
class StartFunds:
    """What an organisation has for a start now, read once for many packages. `available_fen` is of the wallet."""

    own: OwnPrices
    available_fen: int
    backed: Backing

    def pay_for(self, package: Package, listed_fen_per_hour: Decimal) -> bool:
        """Whether wallet and the vouchers that fit cover the first hour of one replica."""
        hour = self.own.hour(listed_fen_per_hour, 1)
        return hour <= max(self.available_fen, 0) + self.backed.free_fen(package)


def start_funds(organisation_id: UUID) -> StartFunds:
    available = wallet_row(organisation_id).available_fen
    return StartFunds(own_prices(organisation_id, db_now()), available, backing(organisation_id))


def blocking_arrears(organisation_id: UUID) -> ArrearsStatus | None:
    state = arrears_row(organisation_id)
    return ArrearsStatus(state.status) if state and state.status in BLOCKING else None


@once_a_moment
def arrears_row(organisation_id: UUID) -> ArrearsState | None:
    """None for an organisation that was never short."""
    found: ArrearsState | None = ArrearsState.objects.filter(pk=organisation_id).first()
    return found


def lasts_until(funds_fen: int, burn_fen_per_hour: Decimal) -> datetime | None:
    """When `funds_fen` run out at this rate: now if they already have, None if it is free or ten years away."""
    if burn_fen_per_hour <= 0:
        return None
    hours = Decimal(max(funds_fen, 0)) / burn_fen_per_hour
    if hours > FOREVER_HOURS:
        return None
    return db_now() + timedelta(seconds=int(hours * 3600))
