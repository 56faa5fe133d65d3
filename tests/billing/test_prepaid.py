"""Prepaid orders: bought, earned, renewed, changed, given back, ended."""

from datetime import timedelta

import pytest
from django.db import IntegrityError, ProgrammingError, transaction
from django.db.models import Sum

from apps.audit.models import Entry
from apps.billing import services
from apps.billing.choices import AccountKind, PrepaidEnd, PrepaidStatus, Term, TransferKind
from apps.billing.days import BILLING_ZONE
from apps.billing.models import Package, PrepaidOrder, PrepaidPurchase, TermPrice, Transfer
from apps.billing.periods import period_start
from apps.billing.prepaid.changes import change, give_back
from apps.billing.prepaid.earning import recognise_due
from apps.billing.prepaid.selectors import prepaid_drift, prepaid_quote, refundable_fen
from apps.billing.prepaid.services import SeenTerms, renew, set_renewal
from apps.billing.prepaid.sweep import prepaid_sweep
from apps.common.actor import Actor
from apps.common.errors import Conflict, Denied, InsufficientFunds, Invalid, NotFound
from apps.common.scoping import acting
from apps.notifications.models import Notice
from apps.tenants.choices import Role
from apps.tenants.models import Organisation
from tests.billing.builders import PLATFORM, balance, make_member, make_organisation, make_package, top_up
from tests.billing.prepaid import MONTH_END, Clock, buy, offer, offered

DEFERRED, REVENUE = AccountKind.DEFERRED, AccountKind.REVENUE
DAY = timedelta(days=1)


@pytest.fixture
def package(clock: Clock, lab: Organisation) -> Package:
    return offered(lab, 100)


def books(lab: Organisation) -> tuple[int, int, int]:
    """Wallet, deferred, revenue."""
    return balance(lab), balance(lab, DEFERRED), balance(lab, REVENUE)


def earn(clock: Clock) -> int:
    return recognise_due(PLATFORM, now=clock.now)


def sweep(clock: Clock) -> int:
    return prepaid_sweep(PLATFORM, now=clock.now)


def told(kind: str) -> int:
    return Notice.objects.filter(kind=kind).count()


def test_an_order_is_paid_at_once_and_deferred(lab: Organisation, alice: Actor, package: Package) -> None:
    made = buy(alice, package, quantity=2)
    assert books(lab) == (40_000, 60_000, 0)
    assert made.ends_at == period_start(MONTH_END, Term.MONTH, 1)
    assert made.ends_at.astimezone(BILLING_ZONE).day == 28
    entry = Entry.objects.get(action="billing.prepaid.order")
    assert entry.after["amount_fen"] == 60_000
    assert prepaid_drift() == []


def test_a_second_click_buys_nothing(lab: Organisation, alice: Actor, package: Package) -> None:
    first = buy(alice, package, key="once")
    assert buy(alice, package, key="once") == first
    with pytest.raises(Conflict):
        buy(alice, package, key="once", quantity=3)
    assert balance(lab) == 70_000


def test_more_than_the_wallet_has_is_not_sold(lab: Organisation, alice: Actor, package: Package) -> None:
    with pytest.raises(InsufficientFunds, match=r"¥200\.00 short of ¥1,200\.00"):
        buy(alice, package, quantity=4)
    assert PrepaidOrder.objects.count() == PrepaidPurchase.objects.count() == 0
    assert books(lab) == (100_000, 0, 0)


def test_what_is_not_offered_cannot_be_bought(alice: Actor, package: Package) -> None:
    with pytest.raises(Conflict):
        buy(alice, package, term=Term.YEAR)
    with pytest.raises(Invalid):
        buy(alice, package, term=Term.HOUR)
    for wrong in ({"quantity": 0}, {"quantity": 1001}, {"periods": 0}, {"periods": 61}):
        with pytest.raises(Invalid):
            buy(alice, package, **wrong)  # type: ignore[arg-type]
    offer(package, fen=None)
    with pytest.raises(Conflict):
        buy(alice, package)


def test_a_price_that_changed_meanwhile_is_not_charged(alice: Actor, package: Package, clock: Clock) -> None:
    seen = prepaid_quote(alice, package_id=package.pk, term=Term.MONTH).price
    made = buy(alice, package)
    clock.on(minutes=1)
    offer(package, fen=50_000)
    with pytest.raises(Conflict, match="price has changed"):
        renew(alice, order_id=made.pk, after=made.ends_at, seen=SeenTerms(price_id=seen.pk))
    assert TermPrice.objects.count() == 2


def test_a_member_may_not_buy_and_a_stranger_sees_nothing(lab: Organisation, alice: Actor, package: Package) -> None:
    with pytest.raises(Denied):
        buy(make_member(lab), package)
    made = buy(alice, package)
    charlie = make_member(make_organisation(), Role.ADMIN)
    with acting(charlie):
        with pytest.raises(NotFound):
            renew(charlie, order_id=made.pk, after=made.ends_at)
        with pytest.raises(NotFound):
            give_back(charlie, order_id=made.pk)
        with pytest.raises(NotFound):
            set_renewal(charlie, order_id=made.pk, auto_renew=True, at_end=PrepaidEnd.STOP)


def test_each_day_earns_the_same_and_the_last_one_the_tail(
    lab: Organisation, alice: Actor, package: Package, clock: Clock
) -> None:
    offer(package, fen=30_001)
    buy(alice, package)  # 28 days: 1071 fen each, the tail of 13 on the last
    earned = []
    for _ in range(28):
        clock.on(days=1)
        earn(clock)
        earned.append(balance(lab, REVENUE))
    assert [after - before for before, after in zip([0, *earned], earned, strict=False)] == [1071] * 27 + [1084]
    assert books(lab) == (69_999, 0, 30_001)
    assert earn(clock) == 0
    assert Transfer.objects.filter(kind=TransferKind.RECOGNITION).count() == 28


def test_days_without_the_task_are_made_up_for(lab: Organisation, alice: Actor, package: Package, clock: Clock) -> None:
    buy(alice, package)
    clock.on(days=10, hours=23)
    assert earn(clock) == 1
    assert earn(clock) == 0
    assert balance(lab, REVENUE) == 30_000 // 28 * 10
    assert Transfer.objects.filter(kind=TransferKind.RECOGNITION).count() == 10


def test_a_renewal_begins_where_the_order_ends(lab: Organisation, alice: Actor, package: Package, clock: Clock) -> None:
    made = buy(alice, package)
    end = made.ends_at
    clock.on(days=3)
    renewed = renew(alice, order_id=made.pk, after=end, periods=2)
    assert renewed.ends_at == period_start(MONTH_END, Term.MONTH, 3)
    assert renewed.ends_at.astimezone(BILLING_ZONE).day == 30
    assert renew(alice, order_id=made.pk, after=end, periods=2).ends_at == renewed.ends_at
    with pytest.raises(Conflict):
        renew(alice, order_id=made.pk, after=end, periods=1)
    assert balance(lab) == 10_000
    spans = list(PrepaidPurchase.objects.order_by("number").values_list("starts_at", "ends_at"))
    assert spans == [(MONTH_END, end), (end, renewed.ends_at)]


def test_the_grace_renews_from_the_old_end(lab: Organisation, alice: Actor, package: Package, clock: Clock) -> None:
    made = buy(alice, package)
    clock.now = made.ends_at + timedelta(hours=20)
    sweep(clock)
    assert told("prepaid.grace") == 1
    renewed = renew(alice, order_id=made.pk, after=made.ends_at)
    assert renewed.ends_at == period_start(MONTH_END, Term.MONTH, 2)
    clock.now = renewed.covers_until
    with pytest.raises(Conflict, match="ended"):
        renew(alice, order_id=made.pk, after=renewed.ends_at)


def test_the_grace_is_at_most_a_tenth_of_a_period(alice: Actor, package: Package) -> None:
    offer(package, Term.DAY, 1_500)
    made = buy(alice, package, term=Term.DAY, periods=5)
    assert made.covers_until - made.ends_at == DAY / 10


def test_giving_back_returns_what_is_unused(lab: Organisation, alice: Actor, package: Package, clock: Clock) -> None:
    made = buy(alice, package, periods=1)
    renew(alice, order_id=made.pk, after=made.ends_at)
    clock.on(days=7)
    earn(clock)
    assert refundable_fen(made, clock.now) == 22_500 + 30_000
    ended = give_back(alice, order_id=made.pk)
    assert (ended.status, ended.covers_until) == (PrepaidStatus.REFUNDED, clock.now)
    assert books(lab) == (92_500, 0, 7_500)
    give_back(alice, order_id=made.pk)
    clock.on(days=100)
    assert earn(clock) == sweep(clock) == 0
    assert books(lab) == (92_500, 0, 7_500)
    assert Entry.objects.filter(action="billing.prepaid.refund").count() == 1


def test_staff_who_give_back_say_why(alice: Actor, package: Package) -> None:
    made = buy(alice, package)
    with pytest.raises(Invalid):
        give_back(PLATFORM, order_id=made.pk)
    give_back(PLATFORM, order_id=made.pk, reason="ticket 17")
    assert Entry.objects.get(action="billing.prepaid.refund").after["reason"] == "ticket 17"


def test_a_change_pays_the_difference_for_the_rest(
    lab: Organisation, alice: Actor, package: Package, clock: Clock
) -> None:
    bigger = make_package(300)
    offer(bigger, fen=60_000)
    made = buy(alice, package)
    clock.on(days=14)
    after = change(alice, order_id=made.pk, package_id=bigger.pk, quantity=1)
    assert (after.anchor, after.starts_at, after.ends_at) == (MONTH_END, clock.now, made.ends_at)
    assert books(lab) == (100_000 - 30_000 + 15_000 - 30_000, 30_000, 15_000)
    assert change(alice, order_id=made.pk, package_id=bigger.pk, quantity=1) == after
    with pytest.raises(Conflict):
        change(alice, order_id=made.pk, package_id=bigger.pk, quantity=2)
    clock.on(days=7)
    back = change(alice, order_id=after.pk, package_id=package.pk, quantity=2)
    assert books(lab) == (55_000 + 15_000 - 15_000, 15_000, 30_000)
    clock.now = back.ends_at
    earn(clock)
    assert books(lab) == (55_000, 0, 45_000)
    top_up(lab, 5_000)
    renewed = renew(alice, order_id=back.pk, after=back.ends_at)
    assert renewed.ends_at == period_start(MONTH_END, Term.MONTH, 2)


def test_a_change_that_cannot_be_paid_changes_nothing(
    lab: Organisation, alice: Actor, package: Package, clock: Clock
) -> None:
    dear = make_package(300)
    offer(dear, fen=500_000)
    made = buy(alice, package)
    before = books(lab)
    with pytest.raises(InsufficientFunds):
        change(alice, order_id=made.pk, package_id=dear.pk, quantity=1)
    made.refresh_from_db()
    assert (made.status, books(lab)) == (PrepaidStatus.ACTIVE, before)


def test_setting_a_price_again_changes_nothing(package: Package, clock: Clock) -> None:
    offer(package)
    assert TermPrice.objects.count() == 1
    with pytest.raises(Invalid):
        offer(package, fen=0)
    with pytest.raises(ProgrammingError, match="permission denied"), transaction.atomic():
        TermPrice.objects.update(price_fen=1)


def test_paid_money_cannot_be_unearned(alice: Actor, package: Package, clock: Clock) -> None:
    buy(alice, package)
    clock.on(days=2)
    earn(clock)
    with pytest.raises(IntegrityError, match="moves on"), transaction.atomic():
        PrepaidPurchase.objects.update(recognised_fen=0)
    with pytest.raises(IntegrityError), transaction.atomic():
        PrepaidPurchase.objects.update(recognised_fen=40_000)


def test_a_low_wallet_recovers_with_what_is_given_back(lab: Organisation, alice: Actor, package: Package) -> None:
    made = buy(alice, package, quantity=3)
    give_back(alice, order_id=made.pk)
    assert balance(lab) == 100_000
    moved = Transfer.objects.filter(ref=f"prepaid:{made.pk}").values("kind").annotate(fen=Sum("amount_fen"))
    assert {row["kind"]: row["fen"] for row in moved} == {"prepayment": 90_000, "prepayment_back": 90_000}
    assert services.arrears_sweep(PLATFORM) == []
