"""Running time inside a prepaid order is metered and costs nothing; beyond it, the hour price."""

from datetime import timedelta
from decimal import Decimal

import pytest
from django.db.models import Sum

from apps.billing import selectors, services
from apps.billing.choices import HoldReason, PrepaidEnd
from apps.billing.metering.selectors import burn_by_organisation, burn_fen_per_hour, unrated_fen
from apps.billing.models import Charge, Package, PrepaidStop, UsageSlice
from apps.billing.prepaid.changes import give_back
from apps.billing.prepaid.sweep import prepaid_sweep
from apps.common.actor import Actor
from apps.common.errors import InsufficientFunds
from apps.tenants.models import Organisation
from tests.billing.builders import PLATFORM, Run, balance, make_package, price_of, wallet
from tests.billing.prepaid import MONTH_END, Clock, buy, offer, offered

MINUTE, HOUR = timedelta(minutes=1), timedelta(hours=1)


@pytest.fixture
def package(clock: Clock, lab: Organisation) -> Package:
    return offered(lab, 780)


def rate(clock: Clock) -> None:
    services.rate_due(PLATFORM, until=clock.now)


def started(alice: Actor, package: Package, clock: Clock, replicas: int = 1) -> Run:
    return Run(alice, price_of(package), opened=clock.now, replicas=replicas).open()


def lines() -> list[tuple[int, int, int]]:
    """Covered replicas, seconds and exact fen of all charges of each cover."""
    rows = Charge.objects.values_list("covered").annotate(Sum("seconds"), Sum("exact_fen")).order_by("covered")
    return [(covered, int(seconds), int(exact)) for covered, seconds, exact in rows]


def test_covered_time_is_charged_at_zero(lab: Organisation, alice: Actor, package: Package, clock: Clock) -> None:
    run = started(alice, package, clock)
    clock.on(minutes=30)
    buy(alice, package)
    clock.on(hours=2)
    run.close(timedelta(hours=2, minutes=30))
    assert unrated_fen(run.workload_id) == 390
    rate(clock)
    assert lines() == [(0, 1800, 390), (1, 7200, 0)]
    assert balance(lab) == 70_000 - 390
    cost = selectors.workload_cost(alice, workload_id=run.workload_id)
    assert [cost.charged_fen, *map(int, (cost.unrated_fen, cost.exact_fen, cost.seconds))] == [390, 0, 390, 9000]
    assert UsageSlice.objects.count() == 4
    assert selectors.unbalanced_runs() == []


def test_who_started_first_sits_first(lab: Organisation, alice: Actor, package: Package, clock: Clock) -> None:
    buy(alice, package, quantity=2)
    first, second = started(alice, package, clock), started(alice, package, clock)
    clock.on(minutes=1)
    third = started(alice, package, clock, replicas=2)
    clock.on(hours=1)
    for run in (first, second, third):
        run.seen(clock.now - run.opened)
    rate(clock)
    assert balance(lab) == 40_000 - 2 * 780
    first.close(61 * MINUTE)
    clock.on(hours=1)
    third.seen(clock.now - third.opened)
    second.seen(clock.now - second.opened)
    rate(clock)
    assert balance(lab) == 40_000 - 3 * 780
    assert burn_fen_per_hour(lab.pk) == burn_by_organisation()[lab.pk] == 780


def test_when_it_is_rated_does_not_matter(lab: Organisation, alice: Actor, package: Package, clock: Clock) -> None:
    """The same run, rated every few minutes: the same charges as in one go, to the last place."""
    offer(package, fen=1)
    order = buy(alice, package)
    clock.now = order.covers_until - 50 * MINUTE
    run = started(alice, package, clock)
    for _ in range(9):
        clock.on(minutes=13, microseconds=7)
        run.seen(clock.now - run.opened)
        rate(clock)
    run.close(clock.now - run.opened)
    rate(clock)
    beyond = timedelta(minutes=9 * 13 - 50, microseconds=63)
    exact = Charge.objects.aggregate(fen=Sum("exact_fen"))["fen"]
    assert exact == pytest.approx(Decimal(780) * (beyond // timedelta(microseconds=1)) / 3_600_000_000)
    covered = Charge.objects.filter(covered=1).aggregate(seconds=Sum("seconds"))["seconds"]
    assert covered == 3000


def test_what_is_taken_back_is_what_was_charged(
    lab: Organisation, alice: Actor, package: Package, clock: Clock
) -> None:
    run = started(alice, package, clock)
    clock.on(minutes=30)
    order = buy(alice, package)
    clock.on(minutes=90)
    run.seen(2 * HOUR)
    rate(clock)
    give_back(alice, order_id=order.pk)
    money = balance(lab)
    run.close(15 * MINUTE)
    rate(clock)
    assert balance(lab) == money + 195
    credited = Charge.objects.filter(revision=1).values_list("covered").annotate(Sum("seconds")).order_by("covered")
    assert list(credited) == [(0, -900), (1, -5400)]


def test_lost_work_that_was_covered_is_not_credited(
    lab: Organisation, alice: Actor, package: Package, clock: Clock
) -> None:
    buy(alice, package)
    run = started(alice, package, clock)
    clock.on(hours=1)
    run.close(HOUR)
    rate(clock)
    assert services.credit_lost(PLATFORM, session_id=run.session_id, since=run.opened) == 0
    assert balance(lab) == 70_000


def test_work_is_stopped_at_the_end_where_its_owner_wants_that(alice: Actor, package: Package, clock: Clock) -> None:
    order = buy(alice, package, at_end=PrepaidEnd.STOP)
    covered, beyond = started(alice, package, clock), started(alice, package, clock)
    clock.now = order.covers_until + MINUTE
    for run in (covered, beyond):
        run.seen(clock.now - run.opened)
    assert prepaid_sweep(PLATFORM, now=clock.now) == 1
    first = min((covered, beyond), key=lambda run: run.session_id)
    assert list(PrepaidStop.objects.values_list("workload_id", flat=True)) == [first.workload_id]


def test_another_organisations_order_covers_nothing(alice: Actor, package: Package, clock: Clock) -> None:
    from_elsewhere = make_package(780)
    offer(from_elsewhere)
    buy(alice, from_elsewhere)
    run = started(alice, package, clock)
    clock.on(hours=1)
    run.close(HOUR)
    rate(clock)
    assert lines() == [(0, 3600, 780)]
    assert run.opened == MONTH_END


def test_a_covered_start_holds_nothing_even_without_money(
    lab: Organisation, alice: Actor, package: Package, clock: Clock
) -> None:
    order = buy(alice, package, quantity=2)
    Run(alice, price_of(make_package(9_000_000))).open().close(HOUR)
    rate(clock)
    services.arrears_sweep(PLATFORM, now=clock.now)
    quote = selectors.quote(alice, package_id=package.pk)
    assert (quote.can_start, quote.hold_fen, quote.prepaid_until) == (True, 0, order.ends_at)
    first, second, third = (Run(alice, price_of(package), opened=clock.now) for _ in range(3))
    assert first.hold().reason == second.hold().reason == HoldReason.PREPAID
    with pytest.raises(InsufficientFunds):
        third.hold()
    assert selectors.quote(alice, package_id=package.pk).prepaid_until is None
    first.open()
    assert selectors.covered_workloads([lab.pk]) == {first.workload_id, second.workload_id}
    second.release()
    assert selectors.quote(alice, package_id=package.pk).can_start
    assert first.hold() == first.hold()


def test_holds_come_back_when_the_cover_ends(lab: Organisation, alice: Actor, package: Package, clock: Clock) -> None:
    order = buy(alice, package)
    run = Run(alice, price_of(package), opened=clock.now)
    run.hold()
    run.open()
    run.seen(clock.on(hours=1) - run.opened)
    rate(clock)
    assert wallet(lab).held_fen == 0
    give_back(alice, order_id=order.pk)
    run.seen(clock.on(hours=1) - run.opened)
    rate(clock)
    assert wallet(lab).held_fen == 780
    run.close(clock.now - run.opened).release()
    assert wallet(lab).held_fen == 0


def test_who_sits_behind_one_that_is_not_seen_waits_and_never_pays_for_a_free_place(
    lab: Organisation, alice: Actor, package: Package, clock: Clock
) -> None:
    buy(alice, package)
    first = started(alice, package, clock)
    clock.on(minutes=1)
    second = started(alice, package, clock)
    clock.on(minutes=10)
    first.seen(clock.now - first.opened)
    second.seen(10 * MINUTE)
    rate(clock)
    assert lines() == [(0, 600, 130), (1, 660, 0)]
    clock.on(minutes=30)
    second.seen(40 * MINUTE)
    rate(clock)
    assert lines() == [(0, 600, 130), (1, 660, 0)], "it is not known whether the first still has the place"
    assert unrated_fen(second.workload_id) == 390
    first.close(11 * MINUTE)
    rate(clock)
    assert lines() == [(0, 600, 130), (1, 660 + 1800, 0)]
    assert balance(lab) == 70_000 - 130
    assert selectors.unbalanced_runs() == []


def test_who_was_running_all_the_time_keeps_the_place(
    lab: Organisation, alice: Actor, package: Package, clock: Clock
) -> None:
    buy(alice, package)
    first, second = started(alice, package, clock), started(alice, package, clock)
    who_sits = min(first, second, key=lambda run: run.session_id)
    other = second if who_sits is first else first
    clock.on(minutes=30)
    other.close(30 * MINUTE)
    rate(clock)
    assert lines() == []
    who_sits.seen(30 * MINUTE)
    rate(clock)
    assert lines() == [(0, 1800, 390), (1, 1800, 0)]


def test_who_is_silent_for_an_hour_has_left(lab: Organisation, alice: Actor, package: Package, clock: Clock) -> None:
    buy(alice, package)
    started(alice, package, clock)
    clock.on(minutes=1)
    second = started(alice, package, clock)
    clock.on(minutes=58, seconds=30)
    second.seen(clock.now - second.opened)
    rate(clock)
    assert lines() == []
    clock.on(seconds=31)
    second.seen(clock.now - second.opened)
    rate(clock)
    assert lines() == [(1, 3541, 0)]
