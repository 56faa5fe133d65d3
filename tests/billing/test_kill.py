"""kill -9 at every point where money leaves the process: whoever comes next finishes it, once."""

from collections.abc import Callable, Iterator
from datetime import timedelta
from typing import Any

import pytest

from apps.billing import selectors, services
from apps.billing.choices import AccountKind, ArrearsStatus, RefundStatus, TopUpStatus, TransferKind
from apps.billing.models import Account, ArrearsState, Charge, Hold, TopUpOrder, TopUpRefund, Transfer, UsageSlice
from apps.billing.payments.alipay import notices, orders, payment_notices, polling, refunds
from apps.common.clock import db_now
from apps.common.scoping import acting
from apps.notifications.models import Notice
from apps.tenants import settings
from tests.billing.alipay.gateway import Gateway, form, serving
from tests.billing.builders import (
    NOON,
    PLATFORM,
    Run,
    balance,
    make_package,
    make_staff,
    price_of,
    top_up,
    wallet,
)
from tests.billing.killing_kit import World, kill_everywhere, moved

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("platform")]
HOUR = timedelta(hours=1)


@pytest.fixture(scope="module")
def server() -> Iterator[Gateway]:
    with serving() as gateway:
        yield gateway


@pytest.fixture
def gateway(server: Gateway) -> Gateway:
    settings.put(PLATFORM, server.settings())
    return server


def test_a_slip_that_is_entered_again_after_any_death_is_credited_once() -> None:
    def enter(world: World) -> None:
        services.top_up(PLATFORM, organisation_id=world.lab.pk, amount_fen=500, reference="slip")

    def check(world: World) -> None:
        assert (balance(world.lab), moved(world, TransferKind.TOP_UP)) == (500, [500])

    names = kill_everywhere(lambda world: lambda: enter(world), enter, check)
    assert "before commit in apps.billing.recharges.services.top_up" in names
    assert "after commit in apps.billing.recharges.services.top_up" in names


def test_a_rating_that_died_anywhere_is_made_once() -> None:
    price = price_of(make_package("333.3333333333"))

    def prepare(world: World) -> Callable[[], Any]:
        top_up(world.lab, 100_000)
        for _number in range(2):
            run = Run(world.actor, price)
            run.hold()
            run.open().close(timedelta(minutes=150)).release()
        return lambda: services.rate_due(PLATFORM)

    def check(world: World) -> None:
        assert Charge.objects.filter(organisation=world.lab).count() == 6
        assert UsageSlice.objects.filter(organisation=world.lab).count() == 6
        assert moved(world, TransferKind.USAGE) == [1666]
        assert (balance(world.lab), wallet(world.lab).held_fen) == (100_000 - 1666, 0)
        assert not Hold.objects.filter(organisation=world.lab, end__isnull=True).exists()

    names = kill_everywhere(prepare, lambda world: services.rate_due(PLATFORM), check)
    assert len(names) >= 2


def test_lost_work_is_given_back_once_however_often_its_credit_dies() -> None:
    price = price_of(make_package(600))
    runs: dict[Any, Run] = {}

    def give_back(world: World) -> int:
        return services.credit_lost(PLATFORM, session_id=runs[world.lab.pk].session_id, since=NOON + HOUR)

    def prepare(world: World) -> Callable[[], Any]:
        top_up(world.lab, 100_000)
        runs[world.lab.pk] = Run(world.actor, price).open().close(2 * HOUR)
        return lambda: give_back(world)

    def check(world: World) -> None:
        assert (moved(world, TransferKind.USAGE), moved(world, TransferKind.CREDIT)) == ([1200], [600])
        assert give_back(world) == 600

    assert len(kill_everywhere(prepare, give_back, check)) >= 2


def test_an_organisation_whose_money_is_gone_is_told_once() -> None:
    price = price_of(make_package(600))

    def sweep(world: World) -> None:
        services.rate_organisation(PLATFORM, organisation_id=world.lab.pk, until=db_now())
        services.reassess(PLATFORM, organisation_id=world.lab.pk, now=db_now())

    def prepare(world: World) -> Callable[[], Any]:
        top_up(world.lab, 600)
        run = Run(world.actor, price)
        run.hold()
        run.open().seen(2 * HOUR)
        return lambda: sweep(world)

    def check(world: World) -> None:
        assert balance(world.lab) == -600
        assert selectors.wallet(PLATFORM, organisation_id=world.lab.pk).status == ArrearsStatus.GRACE
        assert Notice.objects.filter(organisation=world.lab, kind="billing.grace").count() == 1

    assert len(kill_everywhere(prepare, sweep, check)) >= 4


def begun(world: World, gateway: Gateway) -> TopUpOrder:
    """A payment of 1,234 fen that the buyer has made; nobody here knows of it."""
    with acting(world.actor):
        order = orders.start(world.actor, amount_fen=1234)
        url = orders.pay_url(world.actor, order, orders.Addresses("https://lab.example/n/", "https://lab.example/b/"))
    gateway.open(url)
    gateway.pay(order.out_trade_no)
    return order


def order_of(world: World) -> TopUpOrder:
    return TopUpOrder.objects.get(organisation=world.lab)


def tell(world: World, gateway: Gateway) -> None:
    orders.handle_notice(notices.read(form(gateway.notice(order_of(world).out_trade_no)), gateway.settings()))


def tell_all(world: World, gateway: Gateway) -> None:
    """The gateway's notice, and what a worker does afterwards."""
    tell(world, gateway)
    payment_notices.notify_due()


def is_credited_once(world: World) -> None:
    assert (balance(world.lab), moved(world, TransferKind.TOP_UP)) == (1234, [1234])
    assert order_of(world).status == TopUpStatus.PAID
    assert Notice.objects.filter(organisation=world.lab, kind="billing.topped_up").count() == 1
    assert not order_of(world).untold


def test_a_payment_is_credited_once_wherever_its_notice_dies(gateway: Gateway) -> None:
    def prepare(world: World) -> Callable[[], Any]:
        begun(world, gateway)
        return lambda: tell(world, gateway)

    names = kill_everywhere(prepare, lambda world: tell_all(world, gateway), is_credited_once)
    assert names == [f"{when} commit in apps.billing.payments.alipay.orders.settle" for when in ("before", "after")]


def test_people_are_told_of_a_payment_once_wherever_telling_them_dies(gateway: Gateway) -> None:
    def prepare(world: World) -> Callable[[], Any]:
        begun(world, gateway)
        tell(world, gateway)
        assert not Notice.objects.filter(organisation=world.lab).exists()
        return payment_notices.notify_due

    names = kill_everywhere(prepare, lambda world: payment_notices.notify_due(), is_credited_once)
    assert names == [
        f"{when} commit in apps.billing.payments.alipay.payment_notices._tell" for when in ("before", "after")
    ]


def test_a_suspended_organisation_is_restored_in_the_transaction_that_credits(gateway: Gateway) -> None:
    def prepare(world: World) -> Callable[[], Any]:
        begun(world, gateway)
        ArrearsState.objects.create(organisation=world.lab, status=ArrearsStatus.SUSPENDED)
        return lambda: tell(world, gateway)

    def at_once(world: World) -> None:
        restored = ArrearsState.objects.get(organisation=world.lab).status == ArrearsStatus.NORMAL
        assert restored == (balance(world.lab) == 1234)

    def check(world: World) -> None:
        is_credited_once(world)
        assert ArrearsState.objects.get(organisation=world.lab).status == ArrearsStatus.NORMAL
        assert Notice.objects.filter(organisation=world.lab, kind="billing.restored").count() == 1

    names = kill_everywhere(prepare, lambda world: tell_all(world, gateway), check, at_once=at_once)
    assert names == [f"{when} commit in apps.billing.payments.alipay.orders.settle" for when in ("before", "after")]


def test_a_payment_is_credited_once_wherever_asking_for_it_dies(gateway: Gateway) -> None:
    def ask(world: World) -> None:
        TopUpOrder.objects.filter(organisation=world.lab, status=TopUpStatus.OPEN).update(next_query_at=db_now())
        polling.query_due_orders()

    def finish(world: World) -> None:
        ask(world)
        payment_notices.notify_due()

    def prepare(world: World) -> Callable[[], Any]:
        begun(world, gateway)
        return lambda: ask(world)

    names = kill_everywhere(prepare, finish, is_credited_once)
    assert {name.split(" in ")[0] for name in names} >= {"before request", "after request", "before commit"}


def test_a_refund_is_made_once_wherever_it_dies(gateway: Gateway) -> None:
    def ask(world: World) -> None:
        TopUpRefund.objects.filter(organisation=world.lab, status=RefundStatus.ASKED).update(next_query_at=db_now())
        refunds.carry_out_due(PLATFORM)

    def prepare(world: World) -> Callable[[], Any]:
        begun(world, gateway)
        tell(world, gateway)
        staff = make_staff()
        number = order_of(world).out_trade_no
        refunds.start(staff, out_trade_no=number, amount_fen=234, reason="by mistake")
        return lambda: ask(world)

    def check(world: World) -> None:
        order, refund = order_of(world), TopUpRefund.objects.get(organisation=world.lab)
        assert (refund.status, order.refunded_fen, balance(world.lab)) == (RefundStatus.DONE, 234, 1000)
        assert gateway.deals[order.out_trade_no].refunds == {refund.out_request_no: 234}
        assert Transfer.objects.filter(idem=f"refund:done:{refund.out_request_no}").count() == 1

    names = kill_everywhere(prepare, ask, check)
    assert sum("request" in name for name in names) >= 6  # asked, refunded, asked again: before and after each
    assert balance_of(AccountKind.REFUND_CLEARING) == 0


def test_a_refused_refund_is_back_in_the_wallet_once_wherever_it_dies(gateway: Gateway) -> None:
    def ask(world: World) -> None:
        TopUpRefund.objects.filter(organisation=world.lab, status=RefundStatus.ASKED).update(next_query_at=db_now())
        refunds.carry_out_due(PLATFORM)

    def prepare(world: World) -> Callable[[], Any]:
        begun(world, gateway)
        tell(world, gateway)
        refunds.start(make_staff(), out_trade_no=order_of(world).out_trade_no, amount_fen=234, reason="by mistake")
        return lambda: ask(world)

    def check(world: World) -> None:
        refund = TopUpRefund.objects.get(organisation=world.lab)
        assert (refund.status, order_of(world).refunded_fen) == (RefundStatus.FAILED, 0)
        assert (balance(world.lab), moved(world, TransferKind.CORRECTION)) == (1234, [234])

    gateway.broke = True
    try:
        kill_everywhere(prepare, ask, check)
    finally:
        gateway.broke = False
    assert balance_of(AccountKind.REFUND_CLEARING) == 0


def balance_of(kind: AccountKind) -> int:
    return Account.objects.get(organisation__isnull=True, kind=kind).balance_fen
