"""Our books beside Alipay's bill: what agrees, what does not, and that a payment is credited once whatever happens."""

from datetime import date, datetime, time, timedelta

import pytest

from apps.audit.models import Entry
from apps.billing import selectors as funds
from apps.billing.bill_choices import BillOutcome, BillSource, BillState
from apps.billing.choices import AccountKind, TopUpStatus
from apps.billing.models import BillDay, BillItem, TopUpOrder, TopUpRefund
from apps.billing.payments.alipay import refunds
from apps.billing.payments.reconciliation import acts as reconciliation_acts
from apps.billing.payments.reconciliation import comparing as reconciliation
from apps.billing.payments.reconciliation import days as reconciliation_days
from apps.billing.payments.reconciliation import selectors as reads
from apps.billing.payments.reconciliation.bills import CHINA
from apps.common.actor import Actor
from apps.common.clock import db_now
from apps.common.errors import Conflict, Invalid, Unavailable
from apps.notifications.models import Notice
from apps.tenants.models import Organisation
from tests.billing.alipay.bills import Row, bill, details, packed
from tests.billing.alipay.gateway import Gateway
from tests.billing.alipay.test_orders import begun, tell
from tests.billing.alipay.test_refunds import asked, clearing, paid
from tests.billing.builders import PLATFORM, balance


def yesterday(day: date) -> None:
    """What has been recorded so far was recorded on that day."""
    noon = datetime.combine(day, time(12), CHINA)
    TopUpOrder.objects.update(created_at=noon)
    TopUpOrder.objects.filter(paid_at__isnull=False).update(paid_at=noon)
    TopUpRefund.objects.filter(ended_at__isnull=False).update(ended_at=noon)


def row_of(order: TopUpOrder, gateway: Gateway, **changes: object) -> Row:
    deal = gateway.deals[order.out_trade_no]
    return Row(**{"number": order.out_trade_no, "fen": deal.total_fen, "trade": deal.trade_no, **changes})  # type: ignore[arg-type]


def take(actor: Actor, day: date, *rows: Row) -> BillDay:
    return reconciliation.import_bill(actor, day=day, content=bill(day, *rows), source=BillSource.DOWNLOADED).day


def outcomes(day: date) -> dict[str, str]:
    return {x.out_request_no or x.out_trade_no: x.outcome for x in BillItem.objects.filter(day=day)}


def test_a_day_that_agrees_says_so_and_its_fees_are_booked_once(
    gateway: Gateway, lab: Organisation, treasurer: Actor, clerk: Actor, day: date
) -> None:
    order = paid(gateway, treasurer, 1000)
    refund = refunds.carry_out(clerk, asked(clerk, order, 400))
    yesterday(day)
    rows = (row_of(order, gateway, fee=6), row_of(order, gateway, fen=400, request=refund.out_request_no, fee=-2))
    assert take(clerk, day, *rows).state == BillState.AGREES
    assert take(clerk, day, *rows).state == BillState.AGREES
    assert set(outcomes(day).values()) == {BillOutcome.MATCHED}
    found = reads.bill_day(clerk, day)
    figures = (found.theirs_fen, found.ours_fen, found.difference_fen, found.fees_fen, found.payments, found.open)  # type: ignore[attr-defined]
    assert figures == (600, 600, 0, 4, 2, 0)
    assert (clearing(AccountKind.FEES), clearing(AccountKind.ALIPAY_CLEARING)) == (-4, -596)
    assert balance(lab) == 600
    assert funds.drift() == []
    assert not Notice.objects.filter(kind="billing.bill_differs").exists()


def test_a_payment_whose_notice_was_lost_is_credited_by_itself(
    gateway: Gateway, lab: Organisation, treasurer: Actor, clerk: Actor, day: date
) -> None:
    order = begun(treasurer, gateway)
    gateway.pay(order.out_trade_no)
    TopUpOrder.objects.update(status=TopUpStatus.CLOSED, next_query_at=None)
    yesterday(day)
    assert take(clerk, day, row_of(order, gateway)).state == BillState.AGREES
    assert balance(lab) == 1234
    assert not tell(gateway, order)


def test_without_an_answer_it_stays_open_until_there_is_one(
    gateway: Gateway, lab: Organisation, treasurer: Actor, clerk: Actor, day: date
) -> None:
    order = begun(treasurer, gateway)
    gateway.pay(order.out_trade_no)
    gateway.faults = ["unreachable"]
    assert take(clerk, day, row_of(order, gateway)).state == BillState.DIFFERS
    assert Notice.objects.filter(kind="billing.bill_differs").exists()
    assert balance(lab) == 0
    tell(gateway, order)
    reconciliation.compare_again(clerk)
    assert BillDay.objects.get(pk=day).state == BillState.AGREES


def test_a_bill_alone_credits_nothing(
    gateway: Gateway, lab: Organisation, treasurer: Actor, clerk: Actor, day: date
) -> None:
    """Whoever uploads a forged bill finds that the gateway has to confirm it."""
    order = begun(treasurer, gateway)
    assert take(clerk, day, row_of(order, gateway), Row("PL-invented", 99_900)).state == BillState.DIFFERS
    assert outcomes(day) == {order.out_trade_no: BillOutcome.THEIRS_ONLY, "PL-invented": BillOutcome.THEIRS_ONLY}
    for item in BillItem.objects.all():
        with pytest.raises(Conflict):
            reconciliation_acts.credit(clerk, item.pk)
    assert balance(lab) == 0


def test_ours_only_amount_differs_and_strangers_payments(
    gateway: Gateway, treasurer: Actor, clerk: Actor, day: date
) -> None:
    lost, wrong = paid(gateway, treasurer, 500), paid(gateway, treasurer, 700)
    yesterday(day)
    found = take(clerk, day, row_of(wrong, gateway, fen=701), Row("T2026", 3580, fee=9))
    assert found.state == BillState.DIFFERS
    assert outcomes(day) == {lost.out_trade_no: BillOutcome.OURS_ONLY, wrong.out_trade_no: BillOutcome.DIFFERS}
    assert found.bill is not None
    assert (found.bill.lines, found.bill.others, found.bill.others_fen) == (2, 1, 3580)
    assert clearing(AccountKind.FEES) == 0
    counted = reads.counts(clerk, day)
    assert (counted.open, counted.all, counted.by_outcome["ours_only"]) == (2, 2, 1)


def test_what_was_ours_only_matches_once_the_earlier_bill_comes(
    gateway: Gateway, treasurer: Actor, clerk: Actor, day: date
) -> None:
    """Paid before midnight, told of after it."""
    order = paid(gateway, treasurer, 500)
    yesterday(day)
    assert take(clerk, day).state == BillState.DIFFERS
    before = day - timedelta(days=1)
    assert take(clerk, before, row_of(order, gateway)).state == BillState.AGREES
    assert BillDay.objects.get(pk=day).state == BillState.AGREES
    assert outcomes(before) == {order.out_trade_no: BillOutcome.MATCHED}


def test_a_contradicting_cut_or_foreign_bill_changes_nothing(
    gateway: Gateway, treasurer: Actor, clerk: Actor, day: date
) -> None:
    order = paid(gateway, treasurer, 500)
    yesterday(day)
    take(clerk, day, row_of(order, gateway))
    with pytest.raises(Conflict):
        take(clerk, day, row_of(order, gateway, fen=501))
    for content in (
        b"",
        packed(details(day, [], account="20889999999999990156"), day),
        bill(day - timedelta(days=1)),
        packed(details(day, []).replace("结束", ""), day),
    ):
        with pytest.raises(Invalid):
            reconciliation.import_bill(clerk, day=day, content=content, source=BillSource.UPLOADED)
    assert outcomes(day) == {order.out_trade_no: BillOutcome.MATCHED}
    assert reads.bills_of(clerk, day).count() == 1


def test_closing_needs_a_note_is_done_once_and_opens_again_when_something_changes(
    gateway: Gateway, lab: Organisation, treasurer: Actor, clerk: Actor, day: date
) -> None:
    order = begun(treasurer, gateway)
    take(clerk, day, row_of(order, gateway))
    item = BillItem.objects.get()
    with pytest.raises(Invalid):
        reconciliation_acts.close(clerk, item.pk, note="  ")
    reconciliation_acts.close(clerk, item.pk, note="Alipay was asked by telephone.")
    with pytest.raises(Conflict):
        reconciliation_acts.close(clerk, item.pk, note="Again.")
    assert BillDay.objects.get(pk=day).state == BillState.AGREES
    assert Entry.objects.filter(action="billing.alipay.bill_closed").count() == 1
    gateway.pay(order.out_trade_no)
    tell(gateway, order)
    take(clerk, day, row_of(order, gateway))
    item.refresh_from_db()
    assert (item.outcome, item.note, item.closed_at) == (BillOutcome.MATCHED, "", None)


def test_asking_says_what_alipay_says(gateway: Gateway, treasurer: Actor, clerk: Actor, day: date) -> None:
    order = paid(gateway, treasurer, 500)
    yesterday(day)
    take(clerk, day)
    item = BillItem.objects.get()
    assert reconciliation_acts.ask_gateway(clerk, item.pk) == reconciliation_acts.GatewayAnswer("TRADE_SUCCESS", 500)
    del gateway.deals[order.out_trade_no]
    assert reconciliation_acts.ask_gateway(clerk, item.pk) == reconciliation_acts.GatewayAnswer("", None)
    gateway.faults = ["unreachable"]
    with pytest.raises(Unavailable):
        reconciliation_acts.ask_gateway(clerk, item.pk)


def test_bills_are_fetched_the_next_morning_and_again_until_they_are_there(
    gateway: Gateway, treasurer: Actor, day: date
) -> None:
    order = paid(gateway, treasurer, 500)
    yesterday(day)
    reconciliation_days.plan_days(db_now())
    planned = BillDay.objects.get()
    assert planned.next_try_at == datetime.combine(day + timedelta(days=1), time(10), CHINA)
    BillDay.objects.update(next_try_at=db_now())
    assert reconciliation_days.reconcile_due(PLATFORM) == 1
    waiting = BillDay.objects.get()
    assert (waiting.state, waiting.problem, waiting.tries) == (BillState.WAITING, "no_bill", 1)
    assert waiting.next_try_at is not None
    assert reconciliation_days.reconcile_due(PLATFORM) == 0
    BillDay.objects.update(next_try_at=db_now(), tries=reconciliation_days.FINAL)
    reconciliation_days.reconcile_due(PLATFORM)
    assert BillDay.objects.get().state == BillState.WAITING
    assert not Notice.objects.filter(kind="billing.bill_missing").exists()  # nobody on the staff yet
    gateway.bills[str(day)] = bill(day, row_of(order, gateway))
    BillDay.objects.update(next_try_at=db_now())
    reconciliation_days.reconcile_due(PLATFORM)
    assert BillDay.objects.get().state == BillState.AGREES


def test_a_day_without_payments_has_no_bill(gateway: Gateway, day: date) -> None:
    BillDay.objects.create(day=day, next_try_at=db_now(), tries=reconciliation_days.FINAL)
    reconciliation_days.reconcile_due(PLATFORM)
    found = BillDay.objects.get()
    assert (found.state, found.next_try_at) == (BillState.EMPTY, None)


@pytest.mark.parametrize("fault", ["unreachable", "lost", "forged", "busy", "html"])
def test_a_download_that_fails_is_tried_again(fault: str, gateway: Gateway, day: date) -> None:
    BillDay.objects.create(day=day, next_try_at=db_now())
    gateway.faults = [fault]
    gateway.bills[str(day)] = bill(day)
    reconciliation_days.reconcile_due(PLATFORM)
    found = BillDay.objects.get()
    assert found.state == BillState.WAITING
    assert found.problem
    assert found.next_try_at is not None
