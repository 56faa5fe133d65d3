"""kill -9 at every point of a refund that two people decide on: out of the wallet once, and back to the buyer once."""

from collections.abc import Callable
from typing import Any

import pytest

from apps.billing.choices import AccountKind, RechargeKind, RefundStatus, RequestState, TransferKind
from apps.billing.models import RechargeRequest, TopUpOrder, TopUpRefund, Transfer
from apps.billing.payments import recharge_review
from apps.billing.payments.alipay import refunds
from apps.common.actor import Actor
from apps.common.clock import db_now
from tests.billing.alipay.gateway import Gateway
from tests.billing.alipay.test_refunds import clearing, paid
from tests.billing.builders import PLATFORM, balance, make_staff
from tests.billing.killing_kit import World, again, kill_everywhere, logged, moved

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("platform")]
PAID, BACK = 2_000_000, 1_000_001  # more than one person may give back


def test_a_refund_of_two_people_is_made_once_whatever_dies(gateway: Gateway, clerk: Actor) -> None:
    second = make_staff()

    def request(world: World) -> RechargeRequest:
        return RechargeRequest.objects.get(organisation=world.lab, kind=RechargeKind.REFUND)

    def ask(world: World) -> None:
        came = Transfer.objects.get(organisation=world.lab, kind=TransferKind.TOP_UP)
        if not TopUpRefund.objects.filter(organisation=world.lab).exists():  # a person sees it on the payment's page
            recharge_review.refund(clerk, transfer_id=came.pk, amount_fen=BACK, reason="ordered twice")

    def give_back(world: World) -> None:
        ask(world)
        again(lambda: recharge_review.approve(second, request_id=request(world).pk))
        TopUpRefund.objects.filter(organisation=world.lab, status=RefundStatus.ASKED).update(next_query_at=db_now())
        refunds.carry_out_due(PLATFORM)

    def prepare(world: World) -> Callable[[], Any]:
        paid(gateway, world.actor, PAID)
        return lambda: give_back(world)

    def at_once(world: World) -> None:
        """The decision and the movement are one; the buyer never has what the wallet still has."""
        out = moved(world, TransferKind.REFUND)
        approved = RechargeRequest.objects.filter(organisation=world.lab, state=RequestState.APPROVED).exists()
        assert out == ([BACK] if approved else [])
        number = TopUpOrder.objects.get(organisation=world.lab).out_trade_no
        assert sum(gateway.deals[number].refunds.values()) <= sum(out)

    def check(world: World) -> None:
        made = TopUpRefund.objects.select_related("order").get(organisation=world.lab)
        assert (made.status, balance(world.lab)) == (RefundStatus.DONE, PAID - BACK)
        assert gateway.deals[made.order.out_trade_no].refunds == {made.out_request_no: BACK}
        assert logged("recharge", request(world).pk) == ["billing.recharge.asked", "billing.recharge.approved"]
        assert clearing(AccountKind.REFUND_CLEARING) == 0

    names = kill_everywhere(prepare, give_back, check, at_once=at_once)
    assert "after commit in apps.billing.payments.recharge_review.deciding.approve" in names
    assert sum("request" in name for name in names) >= 4
