"""What was lost by giving way is given back: exactly, once, and never more than was charged."""

from datetime import timedelta
from decimal import Decimal
from fractions import Fraction
from uuid import uuid4

import pytest
from django.db import transaction
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from apps.billing import selectors, services
from apps.billing.choices import AccountKind, TransferKind
from apps.billing.models import Charge, RatingRun, Transfer
from apps.common.actor import Actor
from apps.common.errors import Conflict
from apps.tenants.models import Organisation
from tests.billing.builders import (
    NOON,
    PLATFORM,
    Run,
    balance,
    make_member,
    make_organisation,
    make_package,
    price_of,
    top_up,
)
from tests.searching import examples

MINUTE, HOUR = timedelta(minutes=1), timedelta(hours=1)
LATER = NOON + timedelta(days=400)


@pytest.fixture
def run(lab: Organisation, alice: Actor) -> Run:
    """0.1 fen a second."""
    top_up(lab, 10_000)
    return Run(alice, price_of(make_package(360)), opened=NOON + 50 * MINUTE)


def credit(run: Run, after: timedelta) -> int:
    return services.credit_lost(PLATFORM, session_id=run.session_id, since=run.opened + after)


def test_the_time_since_the_checkpoint_costs_nothing(lab: Organisation, run: Run) -> None:
    run.open().close(30 * MINUTE)
    services.rate_due(PLATFORM, until=LATER)
    assert balance(lab) == 10_000 - 180
    assert credit(run, 25 * MINUTE) == 30
    assert balance(lab) == 10_000 - 150
    assert balance(lab, AccountKind.REVENUE) == 150
    moved = Transfer.objects.get(kind=TransferKind.CREDIT)
    assert (moved.idem, moved.amount_fen) == (f"credit:preemption:{run.session_id}", 30)
    assert selectors.drift() == []
    assert selectors.unbalanced_runs() == []


def test_what_was_not_charged_yet_is_charged_first(lab: Organisation, run: Run) -> None:
    run.open().close(30 * MINUTE)
    assert credit(run, 5 * MINUTE) == 150
    assert balance(lab) == 10_000 - 30
    assert services.rate_due(PLATFORM, until=LATER) == 0


def test_twice_is_once(lab: Organisation, run: Run) -> None:
    run.open().close(30 * MINUTE)
    assert [credit(run, 20 * MINUTE), credit(run, 20 * MINUTE), credit(run, timedelta(0))] == [60, 60, 60]
    assert balance(lab) == 10_000 - 120
    assert Transfer.objects.filter(kind=TransferKind.CREDIT).count() == 1


def test_it_counts_by_the_price_that_was_charged(lab: Organisation, run: Run) -> None:
    run.open().seen(10 * MINUTE)
    services.rate_due(PLATFORM, until=LATER)
    services.set_price(PLATFORM, package_id=run.price.package_id, rate_fen_per_hour=Decimal(99_999))
    run.close(30 * MINUTE)
    assert credit(run, timedelta(0)) == 180
    assert balance(lab) == 10_000


def test_an_end_that_became_known_late_is_not_given_back_twice(lab: Organisation, run: Run) -> None:
    run.open().seen(40 * MINUTE)
    services.rate_due(PLATFORM, until=LATER)
    run.close(30 * MINUTE)
    assert credit(run, timedelta(0)) == 180
    assert balance(lab) == 10_000


def test_nothing_lost_nothing_given(lab: Organisation, run: Run) -> None:
    run.open().close(30 * MINUTE)
    assert credit(run, 31 * MINUTE) == 0
    assert balance(lab) == 10_000 - 180


def test_what_was_never_metered_costs_nothing_to_lose(run: Run) -> None:
    assert services.credit_lost(PLATFORM, session_id=uuid4(), since=NOON) == 0
    assert not RatingRun.objects.exists()


def test_what_still_runs_has_lost_nothing_yet(run: Run) -> None:
    run.open().seen(30 * MINUTE)
    with pytest.raises(Conflict):
        credit(run, timedelta(0))


def test_the_cost_of_the_run_says_what_was_credited(alice: Actor, run: Run) -> None:
    run.open().close(30 * MINUTE)
    credit(run, 10 * MINUTE)
    cost = selectors.workload_cost(alice, workload_id=run.workload_id)
    assert (cost.charged_fen, cost.exact_fen, cost.credited_exact) == (60, Decimal(60), Decimal(120))
    day = selectors.consumption_by_day(alice).get()
    assert (day["amount_fen"], day["seconds"]) == (60, Decimal(600))


spans = st.timedeltas(timedelta(0), timedelta(hours=5))
rates = st.decimals(Decimal("0.01"), Decimal(100_000), places=4)


@settings(
    max_examples=examples(40), deadline=None, derandomize=True, database=None, suppress_health_check=list(HealthCheck)
)
@given(rate=rates, replicas=st.integers(1, 9), length=spans, kept=spans, rated=spans)
def test_credit_and_net_are_what_was_charged(
    platform: Actor, rate: Decimal, replicas: int, length: timedelta, kept: timedelta, rated: timedelta
) -> None:
    with transaction.atomic():
        world = _world(rate, replicas)
        world.open().seen(min(length, rated))
        services.rate_due(PLATFORM, until=LATER)
        world.close(length)
        first = credit(world, kept)
        assert credit(world, kept) == first
        rows = Charge.objects.filter(session_id=world.session_id)
        charged = sum((row.exact_fen for row in rows if row.seconds > 0), Decimal(0))
        credited = -sum((row.exact_fen for row in rows if row.is_credit), Decimal(0))
        net = sum((row.exact_fen for row in rows), Decimal(0))
        assert 0 <= credited <= charged
        assert credited + net == charged
        lost = max(timedelta(0), length - kept)
        asked = Fraction(rate) * replicas * (lost // timedelta(microseconds=1)) / 3_600_000_000
        assert abs(Fraction(credited) - asked) < Fraction(1, 10**9)
        whole = RatingRun.objects.filter(organisation_id=world.actor.organisation()).order_by("-number").first()
        assert whole is None or 0 <= net - sum(row.amount_fen for row in rows) == whole.carried_out
        assert 0 <= first <= credited + 1
        assert selectors.drift() == []
        assert selectors.unbalanced_runs() == []
        transaction.set_rollback(True)


def _world(rate: Decimal, replicas: int) -> Run:
    lab = make_organisation()
    return Run(make_member(lab), price_of(make_package(rate)), replicas=replicas)
