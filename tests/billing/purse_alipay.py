"""The part of the state machine of purses in which money comes in by Alipay and goes back.

The gateway answers, does not answer or forges as it is told; the buyer may pay when nobody expects it any more.
"""

from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule

from apps.billing.choices import RefundStatus, TopUpStatus
from apps.billing.models import TopUpOrder, TopUpRefund
from apps.billing.payments.alipay import notices, orders, refunds
from apps.billing.payments.alipay.client import OutcomeUnknown
from apps.common.actor import Actor
from apps.common.errors import Conflict, InsufficientFunds, Unavailable
from apps.common.scoping import acting
from apps.tenants.models import Organisation
from tests.billing.alipay.gateway import Gateway, form
from tests.billing.builders import PLATFORM, wallet
from tests.billing.purse_model import Purse

ADDRESSES = orders.Addresses("https://lab.example/n/", "https://lab.example/b/")
FAULTS = ("", "", "lost", "unreachable", "busy", "forged", "amount")
picks = st.integers(0, 100)


class AlipaySteps(RuleBasedStateMachine):
    gateway: Gateway
    lab: Organisation
    owner: Actor
    staff: list[Actor]
    purse: Purse

    @rule(fen=st.sampled_from((100, 1234, 60_000)), pays=st.booleans())
    def start_payment(self, fen: int, pays: bool) -> None:
        try:
            with acting(self.owner):
                order = orders.start(self.owner, amount_fen=fen)
                url = orders.pay_url(self.owner, order, ADDRESSES)
        except Conflict:
            return
        self.gateway.open(url)
        if pays:
            self.gateway.pay(order.out_trade_no)

    @precondition(lambda self: self.gateway.deals)
    @rule(pick=picks, how=st.sampled_from(("notice", "ask", "cancel", "pay")), times=st.integers(1, 3), fault=picks)
    def hear(self, pick: int, how: str, times: int, fault: int) -> None:
        """Notices come never, once or often; asking may go wrong; the buyer may pay after we have cancelled."""
        number, order = self.one_order(pick)
        before, was_paid = order.status, self.gateway.deals[number].status == "TRADE_SUCCESS"
        if how == "pay" and self.gateway.deals[number].status == "WAIT_BUYER_PAY":
            self.gateway.pay(number)
            return
        for _again in range(times):
            self.tell_of(order, how, FAULTS[fault % len(FAULTS)])
        order.refresh_from_db()
        if order.status == TopUpStatus.PAID and before != TopUpStatus.PAID:
            assert was_paid
            self.purse.came_in += order.amount_fen
        if how == "notice" and was_paid:
            assert order.status == TopUpStatus.PAID

    def tell_of(self, order: TopUpOrder, how: str, fault: str) -> None:
        if how == "notice":
            orders.handle_notice(notices.read(form(self.gateway.notice(order.out_trade_no)), self.gateway.settings()))
            return
        self.gateway.faults[:] = [fault] if fault else []
        try:
            order.refresh_from_db()
            if how == "cancel":
                with acting(self.owner):
                    orders.cancel(self.owner, order)
            else:
                orders.refresh(order)
        except (OutcomeUnknown, Unavailable, orders.Mismatch):
            pass
        finally:
            self.gateway.faults.clear()

    @precondition(lambda self: self.gateway.deals)
    @rule(pick=picks, share=st.sampled_from((1, 2, 3)), broke=st.booleans(), fault=picks)
    def refund(self, pick: int, share: int, broke: bool, fault: int) -> None:
        number, order = self.one_order(pick)
        fen = max(order.amount_fen // share, 1)
        covered = wallet(self.lab).available_fen >= fen
        left = order.amount_fen - order.refunded_fen if order.status == TopUpStatus.PAID else 0
        try:
            made = refunds.start(self.staff[0], out_trade_no=number, amount_fen=fen, reason="wrong")
        except InsufficientFunds:
            assert not covered
            return
        except Conflict:
            assert left < fen
            return
        assert covered
        assert fen <= left
        self.purse.came_in -= fen
        self.carry_out(made, broke, FAULTS[fault % len(FAULTS)])

    @rule(broke=st.booleans())
    def carry_out_all(self, broke: bool) -> None:
        for made in TopUpRefund.objects.filter(status=RefundStatus.ASKED):
            self.carry_out(made, broke, "")

    def carry_out(self, made: TopUpRefund, broke: bool, fault: str) -> None:
        self.gateway.broke, self.gateway.faults[:] = broke, [fault] if fault else []
        refunds.carry_out(PLATFORM, TopUpRefund.objects.select_related("order").get(pk=made.pk))
        self.gateway.broke, self.gateway.faults[:] = False, []
        made.refresh_from_db()
        given = self.gateway.deals[made.order.out_trade_no].refunds.get(made.out_request_no, 0)
        if made.status == RefundStatus.FAILED:
            assert given == 0
            self.purse.came_in += made.amount_fen
        if made.status == RefundStatus.DONE:
            assert given == made.amount_fen

    def one_order(self, pick: int) -> tuple[str, TopUpOrder]:
        number = sorted(self.gateway.deals)[pick % len(self.gateway.deals)]
        return number, TopUpOrder.objects.get(out_trade_no=number)

    @invariant()
    def no_more_goes_back_than_came(self) -> None:
        for number, deal in self.gateway.deals.items():
            order = TopUpOrder.objects.get(out_trade_no=number)
            assert sum(deal.refunds.values()) <= order.refunded_fen <= order.amount_fen
