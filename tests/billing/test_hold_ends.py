"""What a hold becomes: money kept for what was used, a prepaid place, a refusal in arrears."""

from datetime import timedelta
from decimal import Decimal
from uuid import uuid4

import pytest

from apps.billing import policy, services
from apps.billing.choices import ArrearsStatus, HoldOutcome, HoldReason
from apps.billing.holds.services import end_hold, open_hold, place_hold, replace_hold
from apps.billing.models import ArrearsState, Hold, HoldEnd, PrepaidSeat
from apps.common.actor import Actor
from apps.common.clock import db_now
from apps.common.errors import Conflict, InsufficientFunds
from apps.tenants.models import Organisation
from tests.billing.builders import (
    PLATFORM,
    Run,
    make_organisation,
    make_package,
    make_voucher,
    price_of,
    top_up,
    wallet,
)
from tests.billing.prepaid import Clock, buy, offered

HOUR = timedelta(hours=1)


@pytest.fixture
def run(alice: Actor) -> Run:
    return Run(alice, price_of(make_package(780)), opened=db_now() - timedelta(hours=3))


def voucher(lab: Organisation, fen: int) -> None:
    now = db_now().replace(minute=0, second=0, microsecond=0)
    make_voucher(lab, fen, valid_from=now - timedelta(days=1), valid_until=now + timedelta(days=1))


def stand(organisation: Organisation, status: ArrearsStatus) -> None:
    ArrearsState.objects.update_or_create(organisation=organisation, defaults={"status": status})


def settled(run: Run, used: timedelta) -> Hold:
    """What is set aside once the work has ended after so long, unrated."""
    run.open().close(used).release()
    hold = open_hold(run.workload_id)
    assert hold is not None
    return hold


def test_what_was_used_and_not_charged_stays_set_aside(lab: Organisation, run: Run) -> None:
    top_up(lab, 1000)
    first = run.hold()
    hold = settled(run, HOUR / 2)
    assert (hold.reason, hold.amount_fen, hold.covered_fen) == (HoldReason.SETTLING, 390, 0)
    assert (hold.number, hold.label, hold.organisation_id) == (2, "digits", lab.pk)
    assert HoldEnd.objects.get().hold == first
    assert HoldEnd.objects.get().outcome == HoldOutcome.CAPTURED
    assert wallet(lab).available_fen == 610
    run.release()
    assert open_hold(run.workload_id) == hold


def test_what_other_work_has_used_does_not_stay_set_aside_for_this(lab: Organisation, alice: Actor, run: Run) -> None:
    top_up(lab, 2000)
    other = Run(alice, run.price, opened=run.opened).open().seen(HOUR)
    other.hold()
    run.hold()
    assert settled(run, HOUR / 2).amount_fen == 390


def test_a_begun_fen_stays_set_aside_as_a_whole_one(lab: Organisation, run: Run) -> None:
    top_up(lab, 1000)
    run.hold()
    assert settled(run, timedelta(seconds=6)).amount_fen == 2  # 1.3 fen


def test_no_more_stays_set_aside_than_there_is(lab: Organisation, run: Run) -> None:
    """After two hours and a half, of which the hold had one."""
    top_up(lab, 1000)
    run.hold()
    assert settled(run, HOUR * 2.5).amount_fen == 1000
    assert wallet(lab).available_fen == 0


def test_what_the_wallet_owes_already_is_not_set_aside(lab: Organisation, run: Run) -> None:
    voucher(lab, 780)
    run.hold()
    services.set_credit_limit(PLATFORM, organisation_id=lab.pk, credit_limit_fen=100)
    assert settled(run, HOUR * 2).amount_fen == 100


def test_of_a_wallet_in_debt_nothing_is_set_aside(lab: Organisation, alice: Actor, run: Run) -> None:
    voucher(lab, 780)
    run.hold()
    Run(alice, run.price, opened=run.opened).open().close(2 * HOUR)
    services.rate_due(PLATFORM)
    assert wallet(lab).available_fen == -780
    hold = settled(run, 2 * HOUR)
    assert (hold.amount_fen, hold.covered_fen) == (0, 780)


def test_vouchers_stand_for_what_was_used_as_far_as_they_were_counted_on(lab: Organisation, run: Run) -> None:
    top_up(lab, 2000)
    voucher(lab, 300)
    started = run.hold()
    assert (started.covered_fen, started.amount_fen) == (300, 480)
    hold = settled(run, HOUR)
    assert (hold.covered_fen, hold.amount_fen) == (300, 480)


def test_vouchers_stand_for_no_more_than_was_used(lab: Organisation, run: Run) -> None:
    voucher(lab, 780)
    assert (run.hold().covered_fen, wallet(lab).held_fen) == (780, 0)
    hold = settled(run, HOUR / 2)
    assert (hold.covered_fen, hold.amount_fen) == (390, 0)


def test_what_one_hold_counts_on_another_does_not(lab: Organisation, alice: Actor, run: Run) -> None:
    voucher(lab, 1000)
    top_up(lab, 1000)
    run.hold()
    second = Run(alice, run.price).hold()
    assert (second.covered_fen, second.amount_fen) == (220, 560)


def test_vouchers_make_what_is_short_less(lab: Organisation, run: Run) -> None:
    voucher(lab, 300)
    top_up(lab, 479)
    with pytest.raises(InsufficientFunds, match=r"¥0\.01 short: starting needs ¥4\.80, available ¥4\.79\.") as refusal:
        run.hold()
    told = "The platform's finance staff can top up; an administrator of your organisation can ask them."
    assert str(refusal.value.hint) == told
    top_up(lab, 1)
    assert run.hold().amount_fen == 480


def test_one_replica_is_held_for_unless_more_are_named(lab: Organisation, alice: Actor, run: Run) -> None:
    top_up(lab, 2000)
    hold = services.hold_for_start(alice, workload_id=run.workload_id, price_version_id=run.price.pk, label="digits")
    assert hold.amount_fen == 780


def test_a_hold_carries_the_name_of_its_work_cut_to_what_fits(lab: Organisation, run: Run) -> None:
    top_up(lab, 1000)
    run.label = "ab" * 150
    assert run.hold().label == "ab" * 100


@pytest.mark.parametrize("status", [ArrearsStatus.GRACE, ArrearsStatus.SUSPENDED])
def test_in_arrears_only_free_work_starts(lab: Organisation, alice: Actor, run: Run, status: ArrearsStatus) -> None:
    top_up(lab, 1000)
    stand(make_organisation(), status)
    stand(lab, ArrearsStatus.LOW)
    run.hold()
    run.release()
    stand(lab, status)
    used_up = r"^The balance is used up: nothing can start until it is topped up\.$"
    with pytest.raises(InsufficientFunds, match=used_up) as no:
        run.hold()
    assert "finance staff can top up" in str(no.value.hint)
    assert Run(alice, price_of(make_package(0))).hold().amount_fen == 0


def test_a_prepaid_place_is_kept_without_money_even_in_arrears(lab: Organisation, alice: Actor, clock: Clock) -> None:
    package = offered(lab, 780)
    buy(alice, package, quantity=2)
    stand(lab, ArrearsStatus.SUSPENDED)
    run = Run(alice, price_of(package), replicas=2)
    hold = run.hold()
    assert (hold.reason, hold.amount_fen, hold.covered_fen, hold.label) == (HoldReason.PREPAID, 0, 0, "digits")
    seat = PrepaidSeat.objects.get()
    assert (seat.workload_id, seat.organisation_id, seat.package_id, seat.replicas) == (
        run.workload_id,
        lab.pk,
        package.pk,
        2,
    )
    with pytest.raises(InsufficientFunds):
        Run(alice, price_of(package)).hold()


def test_work_that_paid_before_takes_a_prepaid_place_next(lab: Organisation, alice: Actor, clock: Clock) -> None:
    package = offered(lab, 780)
    run = Run(alice, price_of(package))
    run.hold()
    run.release()
    buy(alice, package)
    hold = run.hold()
    assert (hold.reason, hold.number) == (HoldReason.PREPAID, 2)


def test_a_place_that_is_too_small_for_all_replicas_is_paid_for(lab: Organisation, alice: Actor, clock: Clock) -> None:
    package = offered(lab, 780)
    buy(alice, package, quantity=1)
    hold = Run(alice, price_of(package), replicas=2).hold()
    assert (hold.reason, hold.amount_fen) == (HoldReason.START, 1560)
    assert not PrepaidSeat.objects.exists()


def test_a_price_that_is_not_in_force_yet_is_refused(lab: Organisation, alice: Actor) -> None:
    top_up(lab, 2000)
    package = make_package(780)
    services.set_price(
        PLATFORM, package_id=package.pk, rate_fen_per_hour=Decimal(900), effective_from=db_now() + timedelta(days=1)
    )
    with pytest.raises(Conflict, match=r"^The price has changed since it was quoted\.$") as refusal:
        Run(alice, price_of(package)).hold()
    assert str(refusal.value.hint) == "Look at the new price and start again."


def test_a_price_holds_from_its_first_moment_and_for_ten_minutes_after_its_last(
    lab: Organisation, alice: Actor, clock: Clock
) -> None:
    package = offered(lab, 780)
    former = price_of(package)
    services.set_price(
        PLATFORM, package_id=package.pk, rate_fen_per_hour=Decimal(900), effective_from=clock.now + timedelta(hours=1)
    )
    changed = clock.on(hours=1)
    assert Run(alice, price_of(package)).hold().amount_fen == 900
    clock.now = changed + policy.QUOTE_VALID - timedelta(microseconds=1)
    assert Run(alice, former).hold().amount_fen == 780
    clock.now = changed + policy.QUOTE_VALID
    with pytest.raises(Conflict, match="The price has changed"):
        Run(alice, former).hold()


def test_a_withdrawn_package_is_refused_with_what_to_do(lab: Organisation, run: Run) -> None:
    top_up(lab, 2000)
    services.deactivate_package(PLATFORM, package_id=run.price.package_id)
    with pytest.raises(Conflict, match=r"^This package is no longer offered\.$") as refusal:
        run.hold()
    assert str(refusal.value.hint) == "Choose another package."


def test_only_the_last_hold_of_this_work_can_be_open(lab: Organisation, alice: Actor, run: Run) -> None:
    top_up(lab, 5000)
    other = Run(alice, run.price).hold()
    assert open_hold(run.workload_id) is None
    run.hold()
    run.release()
    last = run.hold()
    assert open_hold(run.workload_id) == last
    assert last.number == 2
    assert open_hold(other.workload_id) == other
    run.release()
    assert open_hold(run.workload_id) is None
    assert open_hold(other.workload_id) == other


def test_a_hold_that_follows_is_of_the_same_work(lab: Organisation) -> None:
    top_up(lab, 1000)
    workload_id = uuid4()
    first = place_hold(
        lab.pk, workload_id=workload_id, label="digits", reason=HoldReason.START, amount_fen=10, after=None
    )
    assert (first.number, first.covered_fen) == (1, 0)
    end_hold(first, HoldOutcome.VOIDED)
    second = replace_hold(first, reason=HoldReason.RUNNING, amount_fen=20, covered_fen=5)
    end_hold(second, HoldOutcome.VOIDED)
    third = replace_hold(second, reason=HoldReason.RUNNING, amount_fen=30)
    assert [(h.number, h.amount_fen, h.covered_fen) for h in (first, second, third)] == [
        (1, 10, 0),
        (2, 20, 5),
        (3, 30, 0),
    ]
    assert {(h.organisation_id, h.workload_id, h.label) for h in (first, second, third)} == {
        (lab.pk, workload_id, "digits")
    }
    assert set(HoldEnd.objects.values_list("organisation_id", "outcome")) == {(lab.pk, HoldOutcome.VOIDED)}
