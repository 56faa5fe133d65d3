"""Spending caps: found in time whatever is rated when, and never passed by more than one rating interval."""

from datetime import timedelta
from decimal import Decimal

import pytest
from django.db import transaction
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from apps.audit.models import Entry
from apps.billing import policy, services
from apps.billing.caps.selectors import cap_of, spent_fen
from apps.billing.caps.services import CappedWorkload, NearCap, least_fen
from apps.billing.choices import Term
from apps.billing.models import Discount, SpendingCap
from apps.billing.prepaid.changes import give_back
from apps.common.actor import Actor
from apps.common.errors import Invalid
from apps.tenants.choices import Role
from apps.tenants.models import Organisation
from tests.billing.builders import (
    NOON,
    PLATFORM,
    Run,
    balance,
    make_member,
    make_organisation,
    make_package,
    make_voucher,
    price_of,
    top_up,
)
from tests.billing.prepaid import buy, clock_at, offer
from tests.searching import examples

MINUTE, SECOND = timedelta(minutes=1), timedelta(seconds=1)
SWEEP = timedelta(seconds=15)
# From the moment of the cap to the last instruction: the reconcile loop's turn and the shortest grace.
ENDS_WITHIN = timedelta(seconds=2 + 20)


@pytest.fixture
def run(lab: Organisation, alice: Actor) -> Run:
    """¥60 an hour, ¥1 a minute."""
    top_up(lab, 1_000_000)
    return Run(alice, price_of(make_package(6000)))


def capped(run: Run) -> CappedWorkload:
    return CappedWorkload(run.workload_id, run.actor.organisation(), run.price.pk, run.label)


def cap(run: Run, fen: int | None) -> None:
    services.set_cap(PLATFORM, capped(run), fen)
    SpendingCap.objects.filter(pk=run.workload_id).update(look_at=run.opened)


def near(run: Run, after: timedelta) -> list[NearCap]:
    run.seen(after)
    return services.near_caps(now=run.opened + after)


def test_it_is_found_before_it_is_reached_and_only_then(run: Run) -> None:
    run.open()
    cap(run, 3000)
    assert near(run, MINUTE) == []
    assert SpendingCap.objects.get().look_at == NOON + 30 * MINUTE - policy.CAP_AHEAD
    assert near(run, 27 * MINUTE) == []
    assert near(run, 28 * MINUTE) == [NearCap(run.workload_id, 3000, NOON + 30 * MINUTE)]


def test_what_is_charged_and_what_is_not_yet_count_together(run: Run) -> None:
    run.open().seen(10 * MINUTE)
    services.rate_due(PLATFORM, until=NOON + 10 * MINUTE)
    run.seen(15 * MINUTE)
    assert spent_fen(run.workload_id) == 1500
    cap(run, 3000)
    found = cap_of(run.workload_id)
    assert found is not None
    assert found.percent == 50


def test_earlier_attempts_count_and_what_waits_is_not_near(run: Run) -> None:
    run.open().close(25 * MINUTE)
    cap(run, 3000)
    assert services.near_caps(now=NOON + 40 * MINUTE) == []
    again = Run(run.actor, run.price, opened=NOON + 60 * MINUTE, workload_id=run.workload_id).open()
    assert near(again, 2 * MINUTE) == []
    assert near(again, 3 * MINUTE) == [NearCap(run.workload_id, 3000, again.opened + 5 * MINUTE)]


def test_it_is_marked_once_and_a_new_cap_opens_it_again(run: Run) -> None:
    run.open()
    cap(run, 3000)
    found = near(run, 29 * MINUTE)[0]
    assert services.mark_reached(found, at=NOON)
    assert not services.mark_reached(found, at=NOON)
    assert services.near_caps(now=NOON + 30 * MINUTE) == []
    cap(run, 6000)
    assert not services.mark_reached(found, at=NOON), "what was found was the former cap"
    assert near(run, 58 * MINUTE)[0].limit_fen == 6000


def test_a_cap_lasts_for_ten_minutes_more_and_every_change_is_logged(run: Run) -> None:
    assert least_fen(Decimal(6000)) == 1000
    with pytest.raises(Invalid, match="At least"):
        cap(run, 999)
    cap(run, 1000)
    run.open().seen(5 * MINUTE)
    with pytest.raises(Invalid, match=r"15\.00"):
        cap(run, 1499)
    cap(run, 1500)
    cap(run, None)
    cap(run, None)
    assert cap_of(run.workload_id) is None
    log = Entry.objects.filter(action="billing.cap").order_by("pk")
    assert [(each.before["limit_fen"], each.after["limit_fen"]) for each in log] == [
        (None, 1000),
        (1000, 1500),
        (1500, None),
    ]


def test_what_ended_by_itself_is_not_looked_at_again(run: Run) -> None:
    run.open()
    cap(run, 3000)
    services.close_cap(run.workload_id, at=NOON)
    assert near(run, 29 * MINUTE) == []


def test_a_discount_makes_it_last_longer(lab: Organisation, alice: Actor) -> None:
    """¥60 an hour with half of it off: what is charged reaches the cap, not what is listed."""
    top_up(lab, 1_000_000)
    Discount.objects.create(
        organisation=lab, number=1, off=Decimal("0.5"), effective_from=NOON - 60 * MINUTE, made_by="tests"
    )
    run = Run(alice, price_of(make_package(6000))).open()
    with pytest.raises(Invalid, match=r"5\.00"):
        cap(run, 499)
    cap(run, 1500)
    assert near(run, 27 * MINUTE) == []
    assert near(run, 28 * MINUTE) == [NearCap(run.workload_id, 1500, NOON + 30 * MINUTE)]


def test_covered_time_does_not_count_and_is_watched_for_its_end(lab: Organisation, alice: Actor) -> None:
    """Free until the order's grace ends; ¥1 a minute after it, or at once when the order is given back."""
    with clock_at() as clock:
        top_up(lab, 1_000_000)
        package = make_package(6000)
        offer(package, Term.DAY, 1_000)
        order = buy(alice, package, term=Term.DAY)
        run = Run(alice, price_of(package), opened=clock.now).open()
        cap(run, 1000)
        clock.on(hours=5)
        assert near(run, timedelta(hours=5)) == []
        assert SpendingCap.objects.get().look_at == clock.now + 10 * MINUTE - policy.CAP_AHEAD
        covered = order.covers_until - run.opened
        clock.now = order.covers_until + 7 * MINUTE
        assert near(run, covered + 7 * MINUTE) == []
        assert spent_fen(run.workload_id) == 700
        clock.on(minutes=1)
        assert near(run, covered + 8 * MINUTE) == [NearCap(run.workload_id, 1000, order.covers_until + 10 * MINUTE)]


def test_an_order_that_is_given_back_brings_it_near(lab: Organisation, alice: Actor) -> None:
    with clock_at() as clock:
        top_up(lab, 1_000_000)
        package = make_package(6000)
        offer(package, Term.DAY, 1_000)
        order = buy(alice, package, term=Term.DAY)
        run = Run(alice, price_of(package), opened=clock.now).open()
        cap(run, 1000)
        clock.on(hours=1)
        assert near(run, timedelta(hours=1)) == []
        give_back(alice, order_id=order.pk)
        clock.on(minutes=8)
        assert SpendingCap.objects.get().look_at <= clock.now
        assert near(run, timedelta(hours=1, minutes=8)) != []


def test_vouchers_count_as_spent(run: Run, lab: Organisation) -> None:
    make_voucher(lab, 5_000)
    run.open().seen(10 * MINUTE)
    services.rate_due(PLATFORM, until=NOON + 10 * MINUTE)
    assert spent_fen(run.workload_id) == 1000
    assert balance(lab) == 1_000_000


@pytest.mark.django_db
@settings(
    max_examples=examples(15), derandomize=True, deadline=None, database=None, suppress_health_check=list(HealthCheck)
)
@given(
    rate=st.sampled_from(["0.4", "333.3333333333", "6000", "250000"]),
    minutes=st.integers(10, 25),
    rated=st.lists(st.integers(0, 100), max_size=4),
    late=st.integers(0, 14),
    restarts=st.booleans(),
)
def test_it_never_costs_more_than_the_cap_and_one_rating_interval(
    platform: Actor, rate: str, minutes: int, rated: list[int], late: int, restarts: bool
) -> None:
    with transaction.atomic():
        lab = make_organisation()
        top_up(lab, 100_000_000)
        price = price_of(make_package(rate))
        run = Run(make_member(lab, Role.ADMIN), price).open()
        fen = max(1, int(Decimal(rate) * minutes / 60) + 1)
        cap(run, fen)
        found, after = _until_near(run, set(rated), late, restarts=restarts)
        end = max(found.at, run.opened + after) + ENDS_WITHIN
        run.close(end - run.opened)
        interval = Decimal(rate) * Decimal(policy.RATE_EVERY.total_seconds()) / 3600
        assert spent_fen(run.workload_id) <= fen + interval
        assert after * 1.0 <= found.at - run.opened, "it is asked before the cap is reached"
        transaction.set_rollback(True)


def _until_near(run: Run, rated: set[int], late: int, *, restarts: bool) -> tuple[NearCap, timedelta]:
    """Sweeps every 15 seconds, with ratings in between at any of them, until the cap is near."""
    for turn in range(2000):
        after = turn * SWEEP + late * SECOND
        run.seen(after - late * SECOND)
        if turn in rated:
            services.rate_due(PLATFORM, until=run.opened + after)
        if restarts and turn == 20:
            services.set_cap(PLATFORM, capped(run), SpendingCap.objects.get(pk=run.workload_id).limit_fen)
        found = services.near_caps(now=run.opened + after)
        if found:
            return found[0], after
    raise AssertionError("the cap was never near")
