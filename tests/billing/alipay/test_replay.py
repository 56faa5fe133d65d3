"""What a bill gives back after a restore, and that nothing is credited twice whatever was lost or doubled."""

import json
from datetime import date
from io import StringIO
from uuid import UUID

import pytest
from django.core.management import call_command
from django.db import connection
from hypothesis import HealthCheck, given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st

from apps.billing import selectors as funds
from apps.billing.bill_choices import BillItemKind, BillOutcome
from apps.billing.choices import AccountKind, RefundStatus, TopUpStatus
from apps.billing.models import BillItem, TopUpOrder, TopUpRefund, Transfer
from apps.billing.payments.alipay import numbers, orders, refunds
from apps.billing.payments.reconciliation import acts as reconciliation_acts
from apps.common.actor import Actor
from apps.common.clock import db_now
from apps.common.errors import Conflict, InsufficientFunds
from apps.tenants.models import Organisation
from tests.billing.alipay.bills import Row, bill
from tests.billing.alipay.gateway import Deal, Gateway
from tests.billing.alipay.test_orders import begun, tell
from tests.billing.alipay.test_reconciliation import outcomes, row_of, take, yesterday
from tests.billing.alipay.test_refunds import asked, clearing, paid
from tests.billing.builders import balance
from tests.searching import examples


def forget(order: TopUpOrder) -> None:
    """As a database that was restored from a backup made before the order."""
    with connection.cursor() as cursor:
        cursor.execute("DELETE FROM billing_topupnotice WHERE order_id = %s", [order.pk])
        cursor.execute("DELETE FROM billing_topuporder WHERE id = %s", [order.pk])


def test_after_a_restore_the_bill_gives_back_what_was_lost_and_doubles_nothing(
    gateway: Gateway, lab: Organisation, treasurer: Actor, day: date
) -> None:
    """Three payments: one the backup has as paid, one as open, one not at all; and one of an organisation it lacks."""
    kept, opened, lost = paid(gateway, treasurer, 100), begun(treasurer, gateway, 200), begun(treasurer, gateway, 400)
    for order in (opened, lost):
        gateway.pay(order.out_trade_no)
    yesterday(day)
    forget(lost)
    orphan = numbers.order_number(UUID(int=7), db_now())
    gateway.deals[orphan] = Deal(800, "2026T", "TRADE_SUCCESS")
    rows = [row_of(order, gateway, trade=f"2026{n}") for n, order in enumerate((kept, opened, lost))]
    gateway.bills[str(day)] = bill(day, *rows, Row(orphan, 800))
    for credited in (1, 0):
        said = StringIO()
        call_command("replay_alipay", since=day, stdout=said)
        answer = json.loads(said.getvalue())
        assert (answer["state"], answer["credited"], answer["open"]) == ("differs", credited, 1)
        assert balance(lab) == 700
    tell(gateway, lost)
    again = TopUpOrder.objects.get(out_trade_no=lost.out_trade_no)
    assert (again.status, again.user, again.organisation) == (TopUpStatus.PAID, None, lab)
    assert Transfer.objects.filter(idem__startswith="topup:alipay:").count() == 3
    assert balance(lab) == 700
    assert funds.drift() == []


def test_a_refund_that_was_lost_leaves_the_wallet_again(
    gateway: Gateway, lab: Organisation, treasurer: Actor, clerk: Actor, day: date
) -> None:
    order = paid(gateway, treasurer, 1000)
    yesterday(day)
    gateway.deals[order.out_trade_no].refunds["R-lost"] = 300
    take(clerk, day, row_of(order, gateway), row_of(order, gateway, fen=300, request="R-lost"))
    item = BillItem.objects.get(kind=BillItemKind.REFUND)
    assert item.outcome == BillOutcome.THEIRS_ONLY
    for _turn in range(2):
        assert reconciliation_acts.book_refund(clerk, item.pk).outcome == BillOutcome.MATCHED
    assert balance(lab) == 700
    order.refresh_from_db()
    assert order.refunded_fen == 300
    assert (clearing(AccountKind.ALIPAY_CLEARING), clearing(AccountKind.REFUND_CLEARING)) == (-700, 0)


def test_a_refund_that_was_lost_is_not_taken_from_what_is_spent(
    gateway: Gateway, lab: Organisation, treasurer: Actor, clerk: Actor, day: date
) -> None:
    first, second = paid(gateway, treasurer, 1000), paid(gateway, treasurer, 100)
    asked(clerk, second, 100)
    asked(clerk, first, 900)
    yesterday(day)
    gateway.deals[first.out_trade_no].refunds["R-lost"] = 101
    take(clerk, day, row_of(first, gateway), row_of(first, gateway, fen=101, request="R-lost"))
    item = BillItem.objects.get(kind=BillItemKind.REFUND)
    with pytest.raises((Conflict, InsufficientFunds)):
        reconciliation_acts.book_refund(clerk, item.pk)
    assert balance(lab) == 100


def test_refunds_of_two_payments_under_one_number_are_both_booked_once(
    gateway: Gateway, lab: Organisation, treasurer: Actor, clerk: Actor, day: date
) -> None:
    """At Alipay a number is one payment's own: who refunds by hand there may give the same to two."""
    orders_made = [paid(gateway, treasurer, 1000) for _number in range(2)]
    yesterday(day)
    for order in orders_made:
        gateway.deals[order.out_trade_no].refunds["1"] = 300
    take(clerk, day, *(row_of(o, gateway) for o in orders_made), row_of(orders_made[0], gateway, fen=300, request="1"))
    first = BillItem.objects.get(kind=BillItemKind.REFUND)
    reconciliation_acts.book_refund(clerk, first.pk)
    take(clerk, day, *(row_of(order, gateway, fen=300, request="1") for order in orders_made))
    second = BillItem.objects.get(kind=BillItemKind.REFUND, out_trade_no=orders_made[1].out_trade_no)
    assert (second.outcome, balance(lab)) == (BillOutcome.THEIRS_ONLY, 2000 - 300)
    for _press in range(2):
        assert reconciliation_acts.book_refund(clerk, second.pk).outcome == BillOutcome.MATCHED
    assert balance(lab) == 2000 - 600
    assert [order.refunded_fen for order in TopUpOrder.objects.order_by("pk")] == [300, 300]
    assert clearing(AccountKind.REFUND_CLEARING) == 0
    assert TopUpRefund.objects.filter(out_request_no="1", status=RefundStatus.DONE).count() == 2


def test_a_refund_under_the_number_of_another_payments_is_missed_in_the_bill_all_the_same(
    gateway: Gateway, treasurer: Actor, clerk: Actor, day: date
) -> None:
    told, untold = (paid(gateway, treasurer, 1000) for _number in range(2))
    for order in (told, untold):
        refunds.adopt(clerk, order=order, out_request_no="1", amount_fen=300, reason="By hand.")
    yesterday(day)
    take(clerk, day, row_of(told, gateway), row_of(untold, gateway), row_of(told, gateway, fen=300, request="1"))
    missed = BillItem.objects.get(outcome=BillOutcome.OURS_ONLY)
    assert (missed.out_trade_no, missed.out_request_no) == (untold.out_trade_no, "1")


def test_of_refunds_without_a_number_the_one_that_alipay_confirms_is_booked(
    gateway: Gateway, lab: Organisation, treasurer: Actor, clerk: Actor, day: date
) -> None:
    """Made by hand there, a refund may have no number: Alipay knows it by its payment's, and so only one of them."""
    order = paid(gateway, treasurer, 1000)
    yesterday(day)
    gateway.deals[order.out_trade_no].refunds[order.out_trade_no] = 300
    by_hand = [row_of(order, gateway, fen=300, request=" ", at=at) for at in ("13:00:00", "14:00:00")]
    take(clerk, day, row_of(order, gateway), *by_hand)
    first, second = BillItem.objects.filter(kind=BillItemKind.REFUND).order_by("paid_at")
    assert reconciliation_acts.book_refund(clerk, first.pk).outcome == BillOutcome.MATCHED
    with pytest.raises(Conflict, match="confirms only one of them") as refusal:
        reconciliation_acts.book_refund(clerk, second.pk)
    assert "close this with a note" in str(refusal.value.hint)
    assert balance(lab) == 700
    assert reconciliation_acts.close(clerk, second.pk, note="Paid back by bank.").closed_at is not None


STEPS = st.lists(
    st.tuples(st.integers(0, 3), st.sampled_from(["notice", "bill", "late bill", "poll", "forget"])), max_size=10
)


@hypothesis_settings(
    max_examples=examples(20), deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(STEPS, st.sets(st.integers(0, 3)))
def test_whatever_is_lost_or_doubled_the_bill_credits_each_payment_once(
    gateway: Gateway, lab: Organisation, treasurer: Actor, clerk: Actor, day: date,
    steps: list[tuple[int, str]], unpaid: set[int],
) -> None:  # fmt: skip
    TopUpOrder.objects.filter(status=TopUpStatus.OPEN).update(status=TopUpStatus.CLOSED, next_query_at=None)
    before = balance(lab)
    made = [begun(treasurer, gateway, 100 * (n + 1)) for n in range(4)]
    payments = [order for n, order in enumerate(made) if n not in unpaid]
    for order in payments:
        gateway.pay(order.out_trade_no)
    rows = [row_of(order, gateway, fee=1) for order in payments]
    for n, what in steps:
        order = made[n]
        if what == "notice" and TopUpOrder.objects.filter(pk=order.pk).exists():
            tell(gateway, order)
        elif what == "poll" and TopUpOrder.objects.filter(pk=order.pk, status=TopUpStatus.OPEN).exists():
            orders.refresh(order)
        elif what == "bill":
            take(clerk, day, *rows)
        elif what == "late bill":
            take(clerk, day, *rows[: n + 1])
        elif what == "forget" and TopUpOrder.objects.filter(pk=order.pk, status=TopUpStatus.OPEN).exists():
            BillItem.objects.filter(out_trade_no=order.out_trade_no).delete()
            forget(order)
    take(clerk, day, *rows)
    reconciliation_acts.credit_day(clerk, day)
    assert balance(lab) - before == sum(gateway.deals[order.out_trade_no].total_fen for order in payments)
    keys = {f"topup:alipay:{order.out_trade_no}" for order in made}
    assert Transfer.objects.filter(idem__in=keys).count() == len(payments)
    assert {outcomes(day)[order.out_trade_no] for order in payments} <= {BillOutcome.MATCHED}
