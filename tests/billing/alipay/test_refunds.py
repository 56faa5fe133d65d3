"""Refunds: out of the wallet first, one number for ever, back into the wallet only on a signed refusal."""

import pytest
from hypothesis import HealthCheck, given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st

from apps.billing.choices import AccountKind, RefundStatus, TopUpStatus
from apps.billing.ledger.services import platform_account
from apps.billing.models import Account, TopUpOrder, TopUpRefund
from apps.billing.payments.alipay import refunds
from apps.common.actor import Actor
from apps.common.clock import db_now
from apps.common.errors import Conflict, InsufficientFunds, Invalid
from apps.tenants.models import Organisation
from tests.billing.alipay.gateway import Gateway
from tests.billing.alipay.test_orders import begun, tell
from tests.billing.builders import balance
from tests.searching import examples


def paid(gateway: Gateway, treasurer: Actor, fen: int = 1000) -> TopUpOrder:
    order = begun(treasurer, gateway, fen)
    gateway.pay(order.out_trade_no)
    tell(gateway, order)
    order.refresh_from_db()
    return order


def asked(clerk: Actor, order: TopUpOrder, fen: int) -> TopUpRefund:
    return refunds.start(clerk, out_trade_no=order.out_trade_no, amount_fen=fen, reason="Ordered twice.")


def clearing(kind: AccountKind) -> int:
    account: Account = platform_account(kind)
    account.refresh_from_db()
    return account.balance_fen


def test_a_refund_leaves_the_wallet_first_and_then_arrives(
    gateway: Gateway, lab: Organisation, treasurer: Actor, clerk: Actor
) -> None:
    order = paid(gateway, treasurer)
    refund = asked(clerk, order, 400)
    assert balance(lab) == 600
    assert gateway.deals[order.out_trade_no].refunds == {}
    done = refunds.carry_out(clerk, refund)
    assert (done.status, balance(lab)) == (RefundStatus.DONE, 600)
    assert gateway.deals[order.out_trade_no].refunds == {refund.out_request_no: 400}
    assert (clearing(AccountKind.ALIPAY_CLEARING), clearing(AccountKind.REFUND_CLEARING)) == (-600, 0)
    assert refunds.carry_out(clerk, done).status == RefundStatus.DONE


@pytest.mark.parametrize("faults", [["lost"], ["", "lost"], ["", "", "lost"], ["unreachable", ""], ["", "busy"]])
def test_an_answer_that_is_lost_anywhere_gives_back_once(
    faults: list[str], gateway: Gateway, lab: Organisation, treasurer: Actor, clerk: Actor
) -> None:
    order = paid(gateway, treasurer)
    refund = asked(clerk, order, 400)
    gateway.faults = list(faults)
    assert refunds.carry_out(clerk, refund).status == RefundStatus.ASKED
    gateway.faults = []
    TopUpRefund.objects.update(next_query_at=db_now())
    refunds.carry_out_due(clerk)
    refund.refresh_from_db()
    assert (refund.status, balance(lab)) == (RefundStatus.DONE, 600)
    assert gateway.deals[order.out_trade_no].refunds == {refund.out_request_no: 400}


def test_a_signed_refusal_puts_it_back_into_the_wallet(
    gateway: Gateway, lab: Organisation, treasurer: Actor, clerk: Actor
) -> None:
    order = paid(gateway, treasurer)
    refund = asked(clerk, order, 400)
    gateway.broke = True
    failed = refunds.carry_out(clerk, refund)
    assert (failed.status, balance(lab)) == (RefundStatus.FAILED, 1000)
    assert failed.problem.startswith("ACQ.SELLER_BALANCE_NOT_ENOUGH")
    order.refresh_from_db()
    assert order.refunded_fen == 0
    assert clearing(AccountKind.REFUND_CLEARING) == 0


def test_bad_refunds_are_refused(gateway: Gateway, treasurer: Actor, clerk: Actor) -> None:
    order = paid(gateway, treasurer)
    for fen, reason, error in ((0, "x", Invalid), (1, " ", Invalid), (1001, "x", Conflict)):
        with pytest.raises(error):
            refunds.start(clerk, out_trade_no=order.out_trade_no, amount_fen=fen, reason=reason)
    unpaid = begun(treasurer, gateway, 700)
    with pytest.raises(Conflict):
        asked(clerk, unpaid, 1)


def test_what_is_spent_cannot_be_given_back(gateway: Gateway, treasurer: Actor, clerk: Actor) -> None:
    first, second = paid(gateway, treasurer), paid(gateway, treasurer, 500)
    asked(clerk, second, 500)
    asked(clerk, first, 900)
    with pytest.raises(Conflict):
        asked(clerk, first, 101)
    third = paid(gateway, treasurer, 300)
    assert third.transfer is not None
    Account.objects.filter(pk=third.transfer.credit_id).update(credit_limit_fen=0)
    asked(clerk, third, 300)
    assert TopUpOrder.objects.filter(status=TopUpStatus.PAID).count() == 3


@hypothesis_settings(
    max_examples=examples(15), deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(st.lists(st.tuples(st.integers(1, 700), st.booleans(), st.booleans()), max_size=6))
def test_refunds_never_exceed_what_was_paid(
    gateway: Gateway, lab: Organisation, treasurer: Actor, clerk: Actor, wanted: list[tuple[int, bool, bool]]
) -> None:
    TopUpOrder.objects.filter(status=TopUpStatus.OPEN).update(status=TopUpStatus.CLOSED, next_query_at=None)
    order = paid(gateway, treasurer)
    before = balance(lab)
    for fen, loses, broke in wanted:
        try:
            refund = asked(clerk, order, fen)
        except (Conflict, InsufficientFunds):
            continue
        gateway.faults, gateway.broke = (["", "lost"] if loses else []), broke
        refunds.carry_out(clerk, refund)
        gateway.faults, gateway.broke = [], False
        refund.refresh_from_db()
        refunds.carry_out(clerk, refund)
    order.refresh_from_db()
    given_back = sum(gateway.deals[order.out_trade_no].refunds.values())
    ours = sum(r.amount_fen for r in TopUpRefund.objects.filter(order=order, status=RefundStatus.DONE))
    assert given_back == ours == order.refunded_fen <= 1000
    assert balance(lab) == before - given_back
    assert clearing(AccountKind.REFUND_CLEARING) == 0
