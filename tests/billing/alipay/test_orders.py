"""Top-ups against a gateway that signs: credited once, whoever tells of it, in whatever order, or not at all."""

from collections.abc import Callable
from datetime import timedelta

import pytest
from hypothesis import HealthCheck, given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st

from apps.billing.choices import TopUpStatus
from apps.billing.models import TopUpOrder, Transfer
from apps.billing.payments.alipay import notices, orders, polling
from apps.billing.payments.alipay.client import OutcomeUnknown, Trade
from apps.common.actor import Actor
from apps.common.clock import db_now
from apps.common.errors import Conflict, Denied, Invalid, NotFound, Unavailable
from apps.common.scoping import acting
from apps.tenants import settings
from apps.tenants.choices import Role
from apps.tenants.models import Organisation
from tests.billing.alipay.gateway import Gateway, form
from tests.billing.builders import PLATFORM, balance, make_member, make_organisation
from tests.searching import examples

Step = Callable[[Gateway, TopUpOrder, Actor], None]
ADDRESSES = orders.Addresses("https://lab.example/billing/alipay/notify/", "https://lab.example/billing/top-up/back/")


def begun(actor: Actor, gateway: Gateway, fen: int = 1234) -> TopUpOrder:
    """An order whose page the buyer has opened."""
    with acting(actor):
        order = orders.start(actor, amount_fen=fen)
        url = orders.pay_url(actor, order, ADDRESSES)
    gateway.open(url)
    return order


def tell(gateway: Gateway, order: TopUpOrder, **changes: str) -> bool:
    body = form(gateway.notice(order.out_trade_no, **changes))
    return orders.handle_notice(notices.read(body, gateway.settings()))


def test_a_notice_credits_once_and_the_browser_never(gateway: Gateway, lab: Organisation, treasurer: Actor) -> None:
    order = begun(treasurer, gateway)
    gateway.pay(order.out_trade_no)
    assert balance(lab) == 0
    assert tell(gateway, order)
    assert not tell(gateway, order)
    assert balance(lab) == 1234
    order.refresh_from_db()
    assert (order.status, order.trade_no) == (TopUpStatus.PAID, gateway.deals[order.out_trade_no].trade_no)
    assert Transfer.objects.get(idem=f"topup:alipay:{order.out_trade_no}").amount_fen == 1234


def test_a_lost_notice_is_made_up_for_by_asking(gateway: Gateway, lab: Organisation, treasurer: Actor) -> None:
    order = begun(treasurer, gateway)
    gateway.pay(order.out_trade_no)
    TopUpOrder.objects.update(next_query_at=db_now())
    assert polling.query_due_orders() == 1
    assert balance(lab) == 1234
    assert polling.query_due_orders() == 0


def test_finished_a_year_later_changes_nothing(gateway: Gateway, lab: Organisation, treasurer: Actor) -> None:
    order = begun(treasurer, gateway)
    gateway.pay(order.out_trade_no)
    tell(gateway, order)
    assert not tell(gateway, order, trade_status="TRADE_FINISHED", notify_time="2027-11-21 10:00:00")
    assert balance(lab) == 1234


def test_a_payment_after_a_local_cancel_is_credited(gateway: Gateway, lab: Organisation, treasurer: Actor) -> None:
    order = begun(treasurer, gateway)
    TopUpOrder.objects.filter(pk=order.pk).update(status=TopUpStatus.CLOSED, closed_at=db_now(), next_query_at=None)
    gateway.pay(order.out_trade_no)
    assert tell(gateway, order)
    assert balance(lab) == 1234


def test_cancelling_what_was_paid_meanwhile_credits_it(gateway: Gateway, lab: Organisation, treasurer: Actor) -> None:
    order = begun(treasurer, gateway)
    gateway.pay(order.out_trade_no)
    with acting(treasurer):
        assert orders.cancel(treasurer, order).status == TopUpStatus.PAID
    assert balance(lab) == 1234


def test_cancelling_closes_at_the_gateway_too(gateway: Gateway, treasurer: Actor) -> None:
    order = begun(treasurer, gateway)
    with acting(treasurer):
        assert orders.cancel(treasurer, order).status == TopUpStatus.CLOSED
    assert gateway.deals[order.out_trade_no].status == "TRADE_CLOSED"


def test_cancelling_without_an_answer_leaves_it_open(gateway: Gateway, treasurer: Actor) -> None:
    order = begun(treasurer, gateway)
    gateway.faults = ["lost"]
    with acting(treasurer), pytest.raises(Unavailable):
        orders.cancel(treasurer, order)
    order.refresh_from_db()
    assert order.status == TopUpStatus.OPEN


@pytest.mark.parametrize(
    "fault", ["unreachable", "lost", "html", "forged", "sha1", "tampered", "twice", "busy", "other"]
)
def test_an_answer_that_proves_nothing_changes_nothing(
    fault: str, gateway: Gateway, lab: Organisation, treasurer: Actor
) -> None:
    order = begun(treasurer, gateway)
    gateway.faults = [fault]
    with pytest.raises(OutcomeUnknown):
        orders.refresh(order)
    order.refresh_from_db()
    assert (order.status, balance(lab)) == (TopUpStatus.OPEN, 0)


def test_another_amount_is_never_credited(gateway: Gateway, lab: Organisation, treasurer: Actor) -> None:
    order = begun(treasurer, gateway)
    gateway.pay(order.out_trade_no)
    with pytest.raises(orders.Mismatch):
        tell(gateway, order, total_amount="1234.00")
    assert balance(lab) == 0
    TopUpOrder.objects.update(next_query_at=db_now())
    gateway.faults = ["amount"]
    polling.query_due_orders()
    assert balance(lab) == 0


def test_an_order_of_nobody_is_not_found(gateway: Gateway) -> None:
    with pytest.raises(NotFound):
        orders.settle(Trade("PL-unknown", "1", "TRADE_SUCCESS", 100))


def test_an_expired_page_that_was_never_opened_is_closed(gateway: Gateway, treasurer: Actor) -> None:
    with acting(treasurer):
        order = orders.start(treasurer, amount_fen=500)
    TopUpOrder.objects.update(expires_at=db_now() - timedelta(minutes=2), next_query_at=db_now())
    polling.query_due_orders()
    order.refresh_from_db()
    assert order.status == TopUpStatus.CLOSED


def test_it_is_asked_after_1_5_15_and_60_minutes_and_then_after_the_expiry(gateway: Gateway, treasurer: Actor) -> None:
    with acting(treasurer):
        order = orders.start(treasurer, amount_fen=500)
    order.expires_at = order.created_at + timedelta(minutes=120)
    at, minutes = order.created_at, []
    for _turn in range(6):
        following = polling.next_query(order, at)
        assert following is not None
        minutes.append(round((following - order.created_at).total_seconds() / 60))
        at = following
    assert minutes == [1, 5, 15, 60, 121, 151]
    order.queries = polling.MOST_QUERIES
    assert polling.next_query(order, at) is None


def test_limits_roles_and_too_many_at_once(gateway: Gateway, lab: Organisation, treasurer: Actor) -> None:
    for fen in (99, 5_000_001):
        with acting(treasurer), pytest.raises(Invalid):
            orders.start(treasurer, amount_fen=fen)
    member = make_member(lab, Role.MEMBER)
    with acting(member), pytest.raises(Denied):
        orders.start(member, amount_fen=500)
    with acting(treasurer):
        for _turn in range(orders.OPEN_AT_ONCE):
            orders.start(treasurer, amount_fen=500)
        with pytest.raises(Conflict):
            orders.start(treasurer, amount_fen=500)


def test_nobody_reads_another_organisations_payments(gateway: Gateway, treasurer: Actor) -> None:
    order = begun(treasurer, gateway)
    stranger = make_member(make_organisation(), Role.ADMIN)
    with acting(stranger), pytest.raises(NotFound):
        orders.order(stranger, order.out_trade_no)


def test_without_settings_nothing_starts(gateway: Gateway, treasurer: Actor) -> None:
    settings.put(PLATFORM, gateway.settings(enabled=False))
    with acting(treasurer), pytest.raises(Conflict):
        orders.start(treasurer, amount_fen=500)


def _pay(gateway: Gateway, order: TopUpOrder, actor: Actor) -> None:
    deal = gateway.deals[order.out_trade_no]
    if deal.status == "WAIT_BUYER_PAY":
        deal.status = "TRADE_SUCCESS"


def _notice(gateway: Gateway, order: TopUpOrder, actor: Actor) -> None:
    tell(gateway, order)


def _finished(gateway: Gateway, order: TopUpOrder, actor: Actor) -> None:
    if gateway.deals[order.out_trade_no].status == "TRADE_SUCCESS":
        tell(gateway, order, trade_status="TRADE_FINISHED")


def _refund_notice(gateway: Gateway, order: TopUpOrder, actor: Actor) -> None:
    if gateway.deals[order.out_trade_no].status == "TRADE_SUCCESS":
        tell(gateway, order, refund_fee="0.34", out_biz_no="x")


def _wrong_amount(gateway: Gateway, order: TopUpOrder, actor: Actor) -> None:
    with pytest.raises(orders.Mismatch):
        tell(gateway, order, total_amount="0.01", trade_status="TRADE_SUCCESS")


def _ask(gateway: Gateway, order: TopUpOrder, actor: Actor) -> None:
    orders.refresh(order)


def _lost(gateway: Gateway, order: TopUpOrder, actor: Actor) -> None:
    gateway.faults = ["lost"]
    with pytest.raises(OutcomeUnknown):
        orders.refresh(order)


def _close_here(gateway: Gateway, order: TopUpOrder, actor: Actor) -> None:
    TopUpOrder.objects.filter(pk=order.pk, status=TopUpStatus.OPEN).update(status=TopUpStatus.CLOSED)


def _cancel(gateway: Gateway, order: TopUpOrder, actor: Actor) -> None:
    with acting(actor):
        orders.cancel(actor, order)


# Those that tell us of a payment that has been made.
TELL = (_notice, _finished, _refund_notice, _ask, _cancel)
STEPS = st.lists(st.sampled_from([*TELL, _pay, _wrong_amount, _lost, _close_here]), max_size=12)


@hypothesis_settings(
    max_examples=examples(25),
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
    print_blob=True,
)
@given(STEPS)
def test_any_sequence_gives_exactly_one_credit_or_none(
    gateway: Gateway, lab: Organisation, treasurer: Actor, steps: list[Step]
) -> None:
    before = balance(lab)
    TopUpOrder.objects.filter(status=TopUpStatus.OPEN).update(status=TopUpStatus.CLOSED, next_query_at=None)
    order = begun(treasurer, gateway)
    deal = gateway.deals[order.out_trade_no]
    known = False  # whether we were told of the payment by somebody who can be believed
    for step in steps:
        known |= step in TELL and deal.status == "TRADE_SUCCESS"
        step(gateway, order, treasurer)
    assert balance(lab) - before == (1234 if known else 0)
    order.refresh_from_db()
    assert (order.status == TopUpStatus.PAID) == known
    assert Transfer.objects.filter(idem=f"topup:alipay:{order.out_trade_no}").count() == known
