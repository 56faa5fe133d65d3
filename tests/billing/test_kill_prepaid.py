"""kill -9 at every point of what prepaid orders and vouchers do: repeated, it is done once."""

from collections.abc import Callable
from datetime import datetime, timedelta
from typing import Any

import pytest

from apps.billing.choices import AccountKind, PrepaidStatus, TransferKind, VoucherScope
from apps.billing.days import billing_day
from apps.billing.models import Package, PrepaidOrder
from apps.billing.prepaid.changes import change, give_back
from apps.billing.prepaid.earning import recognise_due
from apps.billing.prepaid.services import renew
from apps.billing.vouchers.services import issue_voucher
from apps.billing.vouchers.terms import VoucherSpec
from apps.common.clock import db_now
from apps.common.scoping import acting
from tests.billing.builders import PLATFORM, balance, make_package, top_up
from tests.billing.killing_kit import World, again, kill_everywhere, moved
from tests.billing.prepaid import buy, clock_at, offer

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("platform")]
FEN = 31_000


@pytest.fixture
def package() -> Package:
    made = make_package(780)
    with clock_at(db_now() - timedelta(days=10)):
        offer(made, fen=FEN)
    return made


def order(world: World, package: Package) -> PrepaidOrder:
    with acting(world.actor):
        return buy(world.actor, package, key="one")


def test_an_order_sent_again_after_any_death_is_paid_once(package: Package) -> None:
    def prepare(world: World) -> Callable[[], Any]:
        top_up(world.lab, 100_000)
        return lambda: order(world, package)

    def check(world: World) -> None:
        assert moved(world, TransferKind.PREPAYMENT) == [FEN]
        assert balance(world.lab) == 100_000 - balance(world.lab, AccountKind.DEFERRED) == 100_000 - FEN

    names = kill_everywhere(prepare, lambda world: order(world, package), check)
    assert "after commit in apps.billing.prepaid.services.order" in names


def test_a_renewal_and_a_change_are_paid_once(package: Package) -> None:
    """On to a package that costs twice as much, at once: the whole difference for both periods is due."""
    dearer, now = make_package(1560), db_now()
    with clock_at(now - timedelta(days=1)):
        offer(dearer, fen=2 * FEN)

    def go_on(world: World) -> None:
        with clock_at(now), acting(world.actor):
            first = PrepaidOrder.objects.get(organisation=world.lab, replaces=None)
            again(
                lambda: renew(world.actor, order_id=first.pk, after=ends[world]),
                lambda: change(world.actor, order_id=first.pk, package_id=dearer.pk, quantity=1),
            )

    ends: dict[World, datetime] = {}

    def prepare(world: World) -> Callable[[], Any]:
        top_up(world.lab, 200_000)
        with clock_at(now):
            ends[world] = order(world, package).ends_at
        return lambda: go_on(world)

    def check(world: World) -> None:
        paid, back = moved(world, TransferKind.PREPAYMENT), moved(world, TransferKind.PREPAYMENT_BACK)
        assert sum(paid) - sum(back) == 4 * FEN
        assert balance(world.lab) == 200_000 - 4 * FEN
        assert PrepaidOrder.objects.get(organisation=world.lab, status=PrepaidStatus.ACTIVE).package_id == dearer.pk

    names = kill_everywhere(prepare, go_on, check)
    for point in ("apps.billing.prepaid.services.renew", "apps.billing.prepaid.changes.change"):
        assert f"after commit in {point}" in names


def test_days_are_earned_once_and_the_rest_goes_back_once(package: Package) -> None:
    start = db_now() - timedelta(days=9)

    def end(world: World) -> None:
        recognise_due(PLATFORM)
        with acting(world.actor):
            give_back(world.actor, order_id=PrepaidOrder.objects.get(organisation=world.lab).pk)

    def prepare(world: World) -> Callable[[], Any]:
        top_up(world.lab, 100_000)
        with clock_at(start):
            order(world, package)
        return lambda: end(world)

    def check(world: World) -> None:
        earned, back = moved(world, TransferKind.RECOGNITION), moved(world, TransferKind.PREPAYMENT_BACK)
        assert (len(back), sum(earned) + sum(back)) == (1, FEN)
        assert balance(world.lab, AccountKind.REVENUE) == sum(earned)
        assert (balance(world.lab), balance(world.lab, AccountKind.DEFERRED)) == (100_000 - sum(earned), 0)
        assert PrepaidOrder.objects.get(organisation=world.lab).status == PrepaidStatus.REFUNDED

    assert len(kill_everywhere(prepare, end, check)) >= 4


def test_a_voucher_granted_again_after_any_death_is_granted_once() -> None:
    today = billing_day(db_now())

    def grant(world: World) -> None:
        spec = VoucherSpec(700, VoucherScope.EVERYTHING, today + timedelta(days=1), today + timedelta(days=3))
        issue_voucher(PLATFORM, organisation_id=world.lab.pk, spec=spec, key="one")

    def check(world: World) -> None:
        assert (moved(world, TransferKind.VOUCHER_ISSUE), balance(world.lab, AccountKind.VOUCHER)) == ([700], 700)

    assert len(kill_everywhere(lambda world: lambda: grant(world), grant, check)) >= 2
