"""What covers a workload, as its page and its quote say it, and the way to paying ahead for its package."""

from dataclasses import replace
from datetime import timedelta
from decimal import Decimal

import pytest

from apps.billing import services
from apps.billing.export_choices import ExportFormat, ExportKind
from apps.billing.exports.usage_rows import CHARGES
from apps.billing.exports.wanted import ExportSpec
from apps.billing.models import Discount, Package
from apps.billing.prepaid.changes import give_back
from apps.billing.prepaid.seats import pay_ahead, seat_of
from apps.common.actor import Actor
from apps.common.permissions import Permission
from apps.tenants.models import Organisation
from tests.billing.builders import PLATFORM, Run, make_package, price_of
from tests.billing.prepaid import Clock, buy, offered

MINUTE = timedelta(minutes=1)


@pytest.fixture
def package(clock: Clock, lab: Organisation) -> Package:
    return offered(lab, 780)


def test_what_runs_names_its_order_and_its_end(alice: Actor, package: Package, clock: Clock) -> None:
    run = Run(alice, price_of(package), opened=clock.now, replicas=3).open()
    assert seat_of(run.workload_id) is None
    order = buy(alice, package, quantity=2)
    seat = seat_of(run.workload_id)
    assert seat is not None
    assert (seat.orders, seat.until, seat.replicas, seat.is_whole) == ((order,), order.ends_at, 2, False)
    give_back(alice, order_id=order.pk)
    assert seat_of(run.workload_id) is None


def test_in_the_grace_it_holds_until_that_ends(alice: Actor, package: Package, clock: Clock) -> None:
    order = buy(alice, package)
    run = Run(alice, price_of(package), opened=clock.now).open()
    clock.now = order.ends_at
    run.seen(clock.now - run.opened)
    seat = seat_of(run.workload_id)
    assert seat is not None
    assert (seat.until, seat.is_whole) == (order.covers_until, True)


def test_what_waits_with_a_promised_place_has_one(alice: Actor, package: Package, clock: Clock) -> None:
    order = buy(alice, package)
    run = Run(alice, price_of(package), opened=clock.now)
    run.hold()
    seat = seat_of(run.workload_id)
    assert seat is not None
    assert seat.orders == (order,)
    run.release()
    assert seat_of(run.workload_id) is None


def test_paying_ahead_is_offered_at_the_own_price_to_who_may(
    lab: Organisation, alice: Actor, package: Package, clock: Clock
) -> None:
    assert pay_ahead(alice, make_package(100).pk) is None
    Discount.objects.create(organisation=lab, number=1, off=Decimal("0.1"), effective_from=clock.now, made_by="tests")
    found = pay_ahead(alice, package.pk)
    assert found is not None
    assert found.fen == 27_000
    assert pay_ahead(replace(alice, permissions=alice.permissions - {Permission.BILLING_PREPAY}), package.pk) is None


def test_a_file_of_charges_names_the_order_and_the_seconds(alice: Actor, package: Package, clock: Clock) -> None:
    run = Run(alice, price_of(package), opened=clock.now, replicas=3).open()
    clock.on(minutes=10)
    order = buy(alice, package, quantity=2)
    clock.on(minutes=10)
    run.close(20 * MINUTE)
    services.rate_due(PLATFORM, until=clock.now)
    rows = CHARGES.rows(alice, ExportSpec(ExportKind.CHARGES, ExportFormat.CSV)).order_by("start")
    names = [str(column.label) for column in CHARGES.columns]
    found = [dict(zip(names, CHARGES.cells(row), strict=True)) for row in rows]
    assert [row["Seconds paid in advance"] for row in found] == [0, 1200]
    assert [row["Prepaid orders"] for row in found] == ["", str(order.pk)]
