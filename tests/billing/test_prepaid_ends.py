"""What time does to prepaid orders: renewal by itself, notices, the grace, the end."""

from datetime import timedelta

import pytest

from apps.billing.choices import AccountKind, PrepaidStatus, Term
from apps.billing.models import Package, PrepaidPurchase
from apps.billing.periods import period_start
from apps.billing.prepaid.earning import recognise_due
from apps.billing.prepaid.sweep import prepaid_sweep
from apps.common.actor import Actor
from apps.notifications.models import Notice
from apps.tenants.models import Organisation
from tests.billing.builders import PLATFORM, balance, top_up
from tests.billing.prepaid import MONTH_END, Clock, buy, offer, offered


@pytest.fixture
def package(clock: Clock, lab: Organisation) -> Package:
    return offered(lab, 100)


def sweep(clock: Clock) -> int:
    return prepaid_sweep(PLATFORM, now=clock.now)


def told(kind: str) -> int:
    return Notice.objects.filter(kind=kind).count()


def test_it_renews_itself_shortly_before_the_end(
    lab: Organisation, alice: Actor, package: Package, clock: Clock
) -> None:
    made = buy(alice, package, auto_renew=True)
    clock.now = made.ends_at - timedelta(hours=25)
    assert sweep(clock) == 0
    clock.on(hours=1)
    assert (sweep(clock), sweep(clock)) == (1, 0)
    assert told("prepaid.renewed") == 1
    assert PrepaidPurchase.objects.get(number=2).automatic
    assert balance(lab) == 40_000


def test_a_renewal_that_fails_is_told_once_and_tried_until_the_grace_ends(
    lab: Organisation, alice: Actor, package: Package, clock: Clock
) -> None:
    made = buy(alice, package, quantity=3, auto_renew=True)
    for _ in range(3):
        clock.now = made.ends_at - timedelta(hours=10)
        assert sweep(clock) == 0
    assert told("prepaid.not_renewed") == 1
    top_up(lab, 100_000)
    clock.now = made.ends_at + timedelta(hours=10)
    assert sweep(clock) == 1
    made.refresh_from_db()
    assert made.ends_at == period_start(MONTH_END, Term.MONTH, 2)


def test_notices_before_the_end_once_each(alice: Actor, package: Package, clock: Clock) -> None:
    made = buy(alice, package, quantity=3)
    seen = []
    for days in (8, 7, 6.5, 3, 1, 0.5):
        clock.now = made.ends_at - timedelta(days=days)
        sweep(clock)
        sweep(clock)
        seen.append(told("prepaid.ending"))
    assert seen == [0, 1, 1, 2, 3, 3]
    assert Notice.objects.filter(kind="prepaid.ending").latest("pk").data["shortfall_fen"] == 80_000


def test_a_day_is_not_announced_as_soon_as_it_is_bought(alice: Actor, package: Package, clock: Clock) -> None:
    offer(package, Term.DAY, 1_000)
    buy(alice, package, term=Term.DAY)
    clock.on(hours=1)
    sweep(clock)
    assert told("prepaid.ending") == 0


def test_the_end_comes_after_the_grace(lab: Organisation, alice: Actor, package: Package, clock: Clock) -> None:
    made = buy(alice, package)
    clock.now = made.covers_until
    recognise_due(PLATFORM, now=clock.now)
    assert (sweep(clock), sweep(clock)) == (1, 0)
    made.refresh_from_db()
    assert made.status == PrepaidStatus.EXPIRED
    assert told("prepaid.expired") == 1
    assert (balance(lab, AccountKind.DEFERRED), balance(lab, AccountKind.REVENUE)) == (0, 30_000)
