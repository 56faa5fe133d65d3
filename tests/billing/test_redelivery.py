"""Every task about money delivered twice by Redis, to two threads of a worker at once: nothing is done twice."""

import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime, timedelta
from threading import Lock
from unittest.mock import patch
from uuid import uuid4

import pytest
from celery.contrib.testing.worker import start_worker
from celery.signals import task_postrun
from django.db import connections
from django.db.models import Sum

from apps.billing import selectors, services
from apps.billing.choices import AccountKind, RefundStatus, TransferKind, VoucherScope
from apps.billing.days import billing_day
from apps.billing.ledger.selectors import voucher_drift
from apps.billing.models import Account, Charge, PrepaidPurchase, TopUpOrder, TopUpRefund, Transfer
from apps.billing.payments.alipay import orders, payment_notices, refunds
from apps.billing.vouchers.services import issue_voucher
from apps.billing.vouchers.terms import VoucherSpec
from apps.common.actor import Actor
from apps.common.clock import db_now
from apps.common.scoping import acting
from apps.notifications.models import Notice
from apps.tenants import settings
from apps.tenants.choices import Role
from apps.tenants.models import Organisation
from plstack.celery import app
from tests.billing.alipay.gateway import Gateway, serving
from tests.billing.builders import (
    PLATFORM,
    Run,
    balance,
    make_member,
    make_organisation,
    make_package,
    make_staff,
    price_of,
    top_up,
)
from tests.billing.prepaid import buy, clock_at, offer

pytestmark = pytest.mark.django_db(transaction=True)
ADDRESSES = orders.Addresses("https://lab.example/n/", "https://lab.example/b/")


@pytest.fixture(autouse=True)
def scope() -> Iterator[None]:
    with acting(PLATFORM):
        yield


def money_tasks() -> list[str]:
    """By the platform's own list, so that a new one is delivered twice as well."""
    app.loader.import_default_modules()
    return sorted(name for name in app.tasks if name.startswith("billing."))


@contextmanager
def finished() -> Iterator[list[str]]:
    """Names of the tasks that have come to an end, failed ones with their error's type."""
    ended: list[str] = []
    guard = Lock()

    def note(task: object = None, state: str = "", **_rest: object) -> None:
        connections.close_all()  # the thread's own
        with guard:
            ended.append(f"{getattr(task, 'name', '?')} {state}")

    task_postrun.connect(note, weak=False)
    try:
        yield ended
    finally:
        task_postrun.disconnect(note)


def deliver_twice(names: list[str]) -> list[str]:
    """The same message twice, as Redis does when it is not acknowledged in time."""
    queue = f"money-{uuid4().hex}"
    with finished() as ended:
        for name in names:
            number = uuid4().hex
            for _again in range(2):
                app.send_task(name, queue=queue, task_id=number)
        with start_worker(app, pool="threads", concurrency=2, queues=[queue], perform_ping_check=False):
            deadline = time.monotonic() + 90
            while len(ended) < 2 * len(names):
                assert time.monotonic() < deadline, ended
                time.sleep(0.1)
    return sorted(ended)


def fen_of(lab: Organisation, kind: TransferKind) -> list[int]:
    return list(
        Transfer.objects.filter(organisation=lab, kind=kind).order_by("pk").values_list("amount_fen", flat=True)
    )


@dataclass
class World:
    """One of everything that a task has to do."""

    lab: Organisation
    ending: Organisation
    paid: TopUpOrder
    given: TopUpOrder


def make_world(gateway: Gateway) -> World:
    lab, now = make_organisation(), db_now()
    owner = make_member(lab, Role.ADMIN)
    top_up(lab, 1_000_000)
    Run(owner, price_of(make_package(600)), opened=now - timedelta(hours=3)).open().close(timedelta(hours=2))
    with clock_at(now - timedelta(days=5)):
        package = make_package(780)
        offer(package, fen=31_000)
        buy(owner, package)
    paid, given = (pay(owner, gateway, fen) for fen in (1234, 500))
    orders.refresh(given)
    refunds.start(make_staff(), out_trade_no=given.out_trade_no, amount_fen=200, reason="by mistake")
    TopUpOrder.objects.filter(pk=paid.pk).update(next_query_at=now)
    return World(lab, holder_of_a_voucher_that_is_over(now), paid, given)


def pay(owner: Actor, gateway: Gateway, fen: int) -> TopUpOrder:
    """At the gateway; nobody here knows."""
    with acting(owner):
        order = orders.start(owner, amount_fen=fen)
        gateway.open(orders.pay_url(owner, order, ADDRESSES))
    gateway.pay(order.out_trade_no)
    return order


def holder_of_a_voucher_that_is_over(now: datetime) -> Organisation:
    holder, granted = make_organisation(), now - timedelta(days=30)
    first = billing_day(granted)
    with patch("apps.billing.vouchers.terms.db_now", lambda: granted):
        spec = VoucherSpec(700, VoucherScope.EVERYTHING, first, first + timedelta(days=3))
        issue_voucher(PLATFORM, organisation_id=holder.pk, spec=spec, key="one")
    return holder


def test_tasks_delivered_twice_at_once_do_each_thing_once() -> None:
    with serving() as gateway:
        settings.put(PLATFORM, gateway.settings())
        world, names = make_world(gateway), money_tasks()
        assert {"billing.rate", "billing.ask_alipay", "billing.prepaid", "billing.vouchers"} <= set(names)
        ended = deliver_twice(names)
        assert ended == sorted(f"{name} SUCCESS" for name in names for _twice in range(2))
        assert list(gateway.deals[world.given.out_trade_no].refunds.values()) == [200]
    payment_notices.notify_due()  # its turn may have come before the payment's
    each_was_done_once(world)
    services.rate_due(PLATFORM)
    each_was_done_once(world)


def each_was_done_once(world: World) -> None:
    lab = world.lab
    assert fen_of(lab, TransferKind.USAGE) == [1200]
    assert Charge.objects.filter(organisation=lab).aggregate(fen=Sum("amount_fen"))["fen"] == 1200
    assert fen_of(lab, TransferKind.TOP_UP) == [1_000_000, 500, 1234]
    assert Notice.objects.filter(organisation=lab, kind="billing.topped_up").count() == 3
    assert TopUpRefund.objects.get().status == RefundStatus.DONE
    bought = PrepaidPurchase.objects.get(organisation=lab)
    assert bought.recognised_days == len(fen_of(lab, TransferKind.RECOGNITION)) == 5
    assert bought.recognised_fen == sum(fen_of(lab, TransferKind.RECOGNITION))
    assert fen_of(world.ending, TransferKind.VOUCHER_END) == [700]
    assert balance(lab) == 1_000_000 + 500 + 1234 - 200 - 1200 - 31_000
    assert balance(lab, AccountKind.DEFERRED) == 31_000 - bought.recognised_fen
    assert Account.objects.aggregate(all=Sum("balance_fen"))["all"] == 0
    assert (selectors.drift(), selectors.unbalanced_runs(), voucher_drift()) == ([], [], [])
