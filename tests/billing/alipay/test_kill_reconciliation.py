"""kill -9 at every point of comparing a day with Alipay's bill and of what staff do about it: each is done once."""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import date, datetime, time, timedelta
from typing import Any

import pytest

from apps.billing.bill_choices import BillItemKind, BillSource, BillState
from apps.billing.choices import AccountKind, TopUpStatus, TransferKind
from apps.billing.models import BillDay, BillItem, TopUpOrder, Transfer
from apps.billing.payments.alipay import numbers, payment_notices
from apps.billing.payments.reconciliation import acts as reconciliation_acts
from apps.billing.payments.reconciliation import comparing as reconciliation
from apps.billing.payments.reconciliation import days as reconciliation_days
from apps.billing.payments.reconciliation.bills import CHINA
from apps.common.actor import Actor
from apps.common.clock import db_now
from apps.notifications.models import Notice
from tests.billing.alipay.bills import Row, bill
from tests.billing.alipay.gateway import Deal, Gateway
from tests.billing.alipay.test_orders import begun
from tests.billing.alipay.test_reconciliation import row_of
from tests.billing.alipay.test_refunds import paid
from tests.billing.builders import PLATFORM, balance
from tests.billing.killing_kit import World, again, kill_everywhere, logged, moved

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("platform")]


@dataclass(frozen=True)
class Scene:
    """What was paid on a day of the world's own: `kept` is credited here, of `lost` nobody has heard, `strange` has no
    order, and of `kept` a part was given back at Alipay. `untold` is credited and in no bill."""

    day: date
    kept: TopUpOrder
    lost: TopUpOrder
    strange: str
    untold: TopUpOrder | None
    content: bytes


@dataclass
class Scenes:
    gateway: Gateway
    made: dict[World, Scene]

    def make(self, world: World, *, more: bool) -> Scene:
        """The next day back each time: a bill that is there already is not fetched again."""
        back = f"R-lost-{len(self.made)}"
        day = db_now().astimezone(CHINA).date() - timedelta(days=2 + len(self.made))
        kept, lost = paid(self.gateway, world.actor, 1000), begun(world.actor, self.gateway, 400)
        self.gateway.pay(lost.out_trade_no)
        TopUpOrder.objects.filter(pk=lost.pk).update(status=TopUpStatus.CLOSED, next_query_at=None)
        untold = paid(self.gateway, world.actor, 150) if more else None
        strange = numbers.order_number(world.lab.pk, db_now())
        rows = [row_of(kept, self.gateway, fee=6), row_of(lost, self.gateway, fee=2)]
        if more:
            self.gateway.deals[strange] = Deal(800, f"2026S{len(self.made):010d}", "TRADE_SUCCESS")
            self.gateway.deals[kept.out_trade_no].refunds[back] = 100
            trade = self.gateway.deals[strange].trade_no
            rows += [Row(strange, 800, trade=trade), row_of(kept, self.gateway, fen=100, request=back, fee=-1)]
        noon = datetime.combine(day, time(12), CHINA)
        TopUpOrder.objects.filter(organisation=world.lab).update(created_at=noon)
        TopUpOrder.objects.filter(organisation=world.lab, paid_at__isnull=False).update(paid_at=noon)
        self.made[world] = Scene(day, kept, lost, strange, untold, bill(day, *rows))
        return self.made[world]


@pytest.fixture
def scenes(gateway: Gateway) -> Scenes:
    return Scenes(gateway, {})


def state_of(scene: Scene) -> str:
    found: str = BillDay.objects.get(pk=scene.day).state
    return found


def fees(scene: Scene) -> int:
    """What Alipay kept of the day's payments, by the ledger."""
    rows = Transfer.objects.filter(pk__in=BillItem.objects.filter(day=scene.day).values("fee"))
    return sum(row.amount_fen if row.kind == TransferKind.FEE else -row.amount_fen for row in rows)


def nothing_is_credited_twice(world: World) -> None:
    keys = Transfer.objects.filter(organisation=world.lab, kind=TransferKind.TOP_UP).values_list("idem", flat=True)
    assert len(keys) == len(set(keys))
    assert balance(world.lab) <= 1000 + 400 + 800 + 150


def test_a_day_is_fetched_compared_and_settled_once_whatever_dies(scenes: Scenes) -> None:
    def fetch(world: World) -> None:
        """The sweep, at the time of its next try."""
        reconciliation_days.plan_days(db_now())
        day = scenes.made[world].day
        BillDay.objects.filter(pk=day, next_try_at__isnull=False).update(next_try_at=db_now())
        reconciliation_days.reconcile_due(PLATFORM)
        payment_notices.notify_due()

    def prepare(world: World) -> Callable[[], Any]:
        scene = scenes.make(world, more=False)
        scenes.gateway.bills[str(scene.day)] = scene.content
        return lambda: fetch(world)

    def check(world: World) -> None:
        scene = scenes.made[world]
        assert state_of(scene) == BillState.AGREES
        assert BillDay.objects.get(pk=scene.day).next_try_at is None
        assert (balance(world.lab), moved(world, TransferKind.TOP_UP)) == (1400, [1000, 400])
        assert fees(scene) == 8
        assert logged("bill", scene.day) == ["billing.alipay.bill_taken"]
        assert Notice.objects.filter(organisation=world.lab, kind="billing.topped_up").count() == 2

    names = kill_everywhere(prepare, fetch, check, at_once=nothing_is_credited_twice)
    assert {name.split(" in ")[0] for name in names} >= {"before request", "after request", "before commit"}
    assert "after commit in apps.billing.payments.reconciliation.comparing.import_bill" in names
    assert "after commit in apps.billing.payments.reconciliation.comparing.compare_again" in names
    assert "after request in apps.billing.payments.reconciliation.download._get" in names


def test_what_staff_do_about_a_day_is_done_once_whatever_dies(scenes: Scenes, clerk: Actor) -> None:
    def item(world: World, kind: BillItemKind, number: str) -> int:
        found: int = BillItem.objects.get(day=scenes.made[world].day, kind=kind, out_trade_no=number).pk
        return found

    def settle(world: World) -> None:
        scene = scenes.made[world]
        assert scene.untold is not None
        strange, back, untold = (
            item(world, BillItemKind.PAYMENT, scene.strange),
            item(world, BillItemKind.REFUND, scene.kept.out_trade_no),
            item(world, BillItemKind.PAYMENT, scene.untold.out_trade_no),
        )
        again(
            lambda: reconciliation_acts.ask_gateway(clerk, strange),
            lambda: reconciliation_acts.credit(clerk, strange),
            lambda: reconciliation_acts.book_refund(clerk, back),
            lambda: reconciliation_acts.close(clerk, untold, note="It is in the next day's bill."),
            lambda: reconciliation_acts.credit_day(clerk, scene.day),
        )

    def prepare(world: World) -> Callable[[], Any]:
        scene = scenes.make(world, more=True)
        reconciliation.import_bill(clerk, day=scene.day, content=scene.content, source=BillSource.UPLOADED)
        assert state_of(scene) == BillState.DIFFERS
        return lambda: settle(world)

    def check(world: World) -> None:
        scene = scenes.made[world]
        assert state_of(scene) == BillState.AGREES
        assert (balance(world.lab), moved(world, TransferKind.REFUND)) == (1000 + 400 + 800 + 150 - 100, [100])
        steps = [f"billing.alipay.{step}" for step in ("adopted", "paid", "bill_credited")]
        assert logged("payment", scene.strange) == steps
        assert scene.untold is not None
        assert logged("payment", scene.untold.out_trade_no).count("billing.alipay.bill_closed") == 1

    names = kill_everywhere(prepare, settle, check, at_once=nothing_is_credited_twice)
    for act in ("credit", "book_refund", "close"):
        assert f"after commit in apps.billing.payments.reconciliation.acts.{act}" in names
    assert clearing_is_even()


def clearing_is_even() -> bool:
    from_refunds = Transfer.objects.filter(credit__kind=AccountKind.REFUND_CLEARING)
    to_alipay = Transfer.objects.filter(debit__kind=AccountKind.REFUND_CLEARING)
    return sum(row.amount_fen for row in from_refunds) == sum(row.amount_fen for row in to_alipay)


def test_asking_for_a_bill_and_a_day_without_one_are_recorded_once(gateway: Gateway, clerk: Actor) -> None:
    days: dict[World, date] = {}

    def look(world: World) -> None:
        again(
            lambda: reconciliation.request_bill(clerk, days[world]),
            lambda: reconciliation.record_missing_bill(PLATFORM, days[world], final=True),
        )

    def prepare(world: World) -> Callable[[], Any]:
        days[world] = db_now().astimezone(CHINA).date() - timedelta(days=100 + len(days))
        return lambda: look(world)

    def check(world: World) -> None:
        found = BillDay.objects.get(pk=days[world])
        assert (found.state, found.next_try_at) == (BillState.EMPTY, None)

    names = kill_everywhere(prepare, look, check)
    for act in ("request_bill", "record_missing_bill"):
        assert f"after commit in apps.billing.payments.reconciliation.comparing.{act}" in names
