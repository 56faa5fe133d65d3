"""Prepaid worlds: a clock that the services read, prices by the period, orders."""

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from itertools import count
from unittest.mock import patch

from apps.billing.choices import PrepaidEnd, Term
from apps.billing.models import Package, PrepaidOrder
from apps.billing.prepaid.services import OrderSpec, order
from apps.billing.prepaid.term_prices import set_term_price
from apps.common.actor import Actor
from apps.tenants.models import Organisation
from tests.billing.builders import PLATFORM, make_package, top_up

# 23:00 on 31 January in the billing zone: the month's end in one zone and not in the other. After everything that the
# database dates by itself, whenever the tests run.
MONTH_END = datetime(2099, 1, 31, 15, tzinfo=UTC)
READERS = (
    "prepaid.services",
    "prepaid.changes",
    "prepaid.earning",
    "prepaid.sweep",
    "prepaid.term_prices",
    "holds.services",
    "prepaid.selectors",
    "prepaid.seats",
    "metering.covering",
    "funds.quotes",
    "prices.own",
)
WITHIN = "prices.packages.selectors"  # reads the clock within its statement
_serial = count(1)


@dataclass
class Clock:
    now: datetime = MONTH_END

    def __call__(self) -> datetime:
        return self.now

    def on(self, **parts: float) -> datetime:
        self.now += timedelta(**parts)
        return self.now


@contextmanager
def clock_at(at: datetime = MONTH_END) -> Iterator[Clock]:
    """The time of everything prepaid, set by hand."""
    clock = Clock(at)
    with ExitStack() as stack:
        for name in READERS:
            stack.enter_context(patch(f"apps.billing.{name}.db_now", clock))
        stack.enter_context(patch(f"apps.billing.{WITHIN}.db_now_within", clock))
        yield clock


def offer(package: Package, term: Term = Term.MONTH, fen: int | None = 30_000) -> None:
    set_term_price(PLATFORM, package_id=package.pk, term=term, price_fen=fen)


def offered(lab: Organisation, rate_fen: int) -> Package:
    """A package at so many fen an hour or ¥300 a month, and a laboratory with ¥1,000."""
    top_up(lab, 100_000)
    made = make_package(rate_fen)
    offer(made)
    return made


def buy(
    actor: Actor,
    package: Package,
    *,
    term: Term = Term.MONTH,
    quantity: int = 1,
    periods: int = 1,
    auto_renew: bool = False,
    at_end: PrepaidEnd = PrepaidEnd.HOURLY,
    key: str = "",
) -> PrepaidOrder:
    wanted = OrderSpec(
        package_id=package.pk,
        term=term,
        key=key or f"key-{next(_serial)}",
        quantity=quantity,
        periods=periods,
        auto_renew=auto_renew,
        at_end=at_end,
    )
    return order(actor, wanted=wanted)
