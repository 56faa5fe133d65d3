"""The database is lost and restored from a dump; then Alipay's bill is replayed: each payment is there, once."""

import json
from dataclasses import dataclass
from datetime import date, datetime, time
from io import StringIO
from pathlib import Path

import pytest
from django.core.management import call_command
from django.db.models import Sum

from apps.billing import selectors
from apps.billing.bill_choices import BillItemKind
from apps.billing.choices import AccountKind, TopUpStatus, TransferKind
from apps.billing.models import Account, BillItem, TopUpOrder, Transfer
from apps.billing.payments.alipay import refunds
from apps.billing.payments.reconciliation import acts as reconciliation_acts
from apps.billing.payments.reconciliation.bills import CHINA
from apps.common.actor import Actor
from apps.tenants.models import Organisation
from tests.billing.alipay.bills import bill
from tests.billing.alipay.gateway import Gateway
from tests.billing.alipay.test_orders import begun, tell
from tests.billing.alipay.test_reconciliation import row_of
from tests.billing.alipay.test_refunds import asked, clearing, paid
from tests.billing.builders import NOON, Run, balance, make_package, price_of, top_up
from tests.billing.dumps import dump, restored

pytestmark = pytest.mark.django_db(transaction=True)


@dataclass(frozen=True)
class Paid:
    """By how far the dump knows of it: paid, open, and not at all."""

    kept: TopUpOrder
    opened: TopUpOrder
    lost: TopUpOrder


def on(day: date, *orders: TopUpOrder) -> None:
    noon = datetime.combine(day, time(12), CHINA)
    rows = TopUpOrder.objects.filter(pk__in=[order.pk for order in orders])
    rows.update(created_at=noon)
    rows.filter(paid_at__isnull=False).update(paid_at=noon)


def run_for_an_hour(treasurer: Actor) -> None:
    run = Run(treasurer, price_of(make_package(60)), opened=NOON)
    run.hold()
    run.open()


def after_the_dump(gateway: Gateway, clerk: Actor, treasurer: Actor, made: Paid) -> None:
    """Two payments are credited, one of them on an order that the dump lacks, and a part of a third is given back."""
    for order in (made.opened, made.lost):
        tell(gateway, order)
    refunds.carry_out(clerk, asked(clerk, made.kept, 300))
    top_up(Organisation.objects.get(pk=treasurer.organisation()), 5_000)


def replayed(day: date) -> dict[str, object]:
    said = StringIO()
    call_command("replay_alipay", since=day, until=day, stdout=said)
    found: dict[str, object] = json.loads(said.getvalue())
    return found


def the_books_are_right() -> None:
    assert (selectors.drift(), selectors.unbalanced_runs()) == ([], [])
    assert Account.objects.aggregate(all=Sum("balance_fen"))["all"] == 0


def test_what_a_dump_lacks_comes_back_from_alipays_bill_once(
    gateway: Gateway, lab: Organisation, treasurer: Actor, clerk: Actor, day: date, tmp_path: Path
) -> None:
    kept, opened = paid(gateway, treasurer, 1000), begun(treasurer, gateway, 200)
    run_for_an_hour(treasurer)
    dump(tmp_path / "backup")
    made = Paid(kept, opened, begun(treasurer, gateway, 400))
    for order in (made.opened, made.lost):
        gateway.pay(order.out_trade_no)
    after_the_dump(gateway, clerk, treasurer, made)
    number = next(iter(gateway.deals[kept.out_trade_no].refunds))
    rows = [row_of(order, gateway) for order in (made.kept, made.opened, made.lost)]
    gateway.bills[str(day)] = bill(day, *rows, row_of(kept, gateway, fen=300, request=number))
    with restored(tmp_path / "backup"):
        on(day, kept, opened)
        assert (balance(lab), TopUpOrder.objects.filter(pk=made.lost.pk).exists()) == (1000, False)
        for credited in (1, 0):
            answer = replayed(day)
            assert (answer["credited"], answer["open"]) == (credited, 1)  # the refund waits for staff
            assert balance(lab) == 1000 + 200 + 400
        item = BillItem.objects.get(day=day, kind=BillItemKind.REFUND)
        for _turn in range(2):
            reconciliation_acts.book_refund(clerk, item.pk)
        for order in (made.kept, made.opened, made.lost):
            tell(gateway, order)  # a notice that comes once more, late
        assert balance(lab) == 1000 + 200 + 400 - 300
        credits = Transfer.objects.filter(kind=TransferKind.TOP_UP).values_list("idem", flat=True)
        assert sorted(credits) == sorted(
            f"topup:alipay:{order.out_trade_no}" for order in (made.kept, made.opened, made.lost)
        )
        assert TopUpOrder.objects.filter(status=TopUpStatus.PAID).count() == 3
        assert (clearing(AccountKind.ALIPAY_CLEARING), clearing(AccountKind.REFUND_CLEARING)) == (-1300, 0)
        assert (replayed(day)["state"], replayed(day)["open"]) == ("agrees", 0)
        the_books_are_right()
    assert balance(lab) == 1000 + 200 + 400 - 300 + 5_000  # the lost database had the cash payment as well
    the_books_are_right()
