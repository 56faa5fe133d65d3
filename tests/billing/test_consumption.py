"""Where the money went: totals that add up, down to the formula of one slice."""

from dataclasses import replace
from datetime import date, timedelta
from decimal import Decimal

import pytest
from django.db.models import Sum

from apps.billing import selectors, services
from apps.billing.choices import AccountKind
from apps.billing.models import Charge, MeterSession, Transfer
from apps.billing.tasks import rate
from apps.common.actor import Actor, system_actor
from apps.common.errors import Denied
from apps.common.scoping import acting
from apps.tenants.models import Organisation, User
from tests.billing.builders import NOON, PLATFORM, Run, balance, make_member, make_organisation, make_package, price_of
from tests.builders import signed_in

HOUR = timedelta(hours=1)
LATER = NOON + timedelta(days=30)


@pytest.fixture
def month(lab: Organisation, alice: Actor) -> tuple[Run, Run, Run]:
    """Two runs of Alice's laboratory on two days, by two people, and one of another organisation."""
    price = price_of(make_package("333.3333333333"))
    stranger = make_member(make_organisation())
    runs = (
        Run(alice, price, label="digits"),
        Run(make_member(lab), price, opened=NOON + 20 * HOUR, label="letters"),
        Run(stranger, price, label="other"),
    )
    for run in runs:
        run.open().close(timedelta(minutes=100, seconds=7))
    services.rate_due(PLATFORM, until=LATER)
    return runs


def test_every_level_adds_up_to_the_ledger(lab: Organisation, alice: Actor, month: tuple[Run, ...]) -> None:
    moved = Transfer.objects.filter(kind="usage", organisation=lab).aggregate(fen=Sum("amount_fen"))["fen"]
    assert moved == balance(lab, AccountKind.REVENUE) == -balance(lab)
    with acting(alice):
        by_day = list(selectors.consumption_by_day(alice))
        by_workload = list(selectors.consumption_by_workload(alice))
        charges = list(selectors.charges(alice))
    assert sum(row["amount_fen"] for row in by_day) == moved
    assert sum(row["amount_fen"] for row in by_workload) == moved
    assert sum(charge.amount_fen for charge in charges) == moved
    assert [row["day"] for row in by_day] == [date(2026, 11, 21), date(2026, 11, 20)]
    assert [row["label"] for row in by_workload] == ["letters", "digits"]
    assert {row["seconds"] for row in by_workload} == {Decimal(6007)}
    assert by_workload[1]["first"] == NOON


def test_a_charge_shows_its_formula(alice: Actor, month: tuple[Run, ...]) -> None:
    filters = selectors.ChargeFilter(workload_id=month[0].workload_id)
    for charge in selectors.charges(alice, filters=filters):
        formula = charge.rate * charge.replicas * charge.seconds / 3600
        assert abs(formula - charge.exact_fen) < Decimal("1e-9")
        assert charge.price_version.number == 1
        assert charge.session.label == "digits"


def test_filters_narrow(lab: Organisation, month: tuple[Run, ...]) -> None:
    day = date(2026, 11, 21)
    assert {c.session.label for c in selectors.charges(PLATFORM, filters=selectors.ChargeFilter(since=day))} == {
        "letters"
    }
    until = selectors.ChargeFilter(until=date(2026, 11, 20), organisation_id=lab.pk)
    assert {c.session.label for c in selectors.charges(PLATFORM, filters=until)} == {"digits"}
    assert selectors.charges(PLATFORM, filters=selectors.ChargeFilter(user_id=month[2].actor.user_id)).count() == 2


def test_a_member_sees_their_own_runs_an_admin_all_a_stranger_none(
    lab: Organisation, alice: Actor, month: tuple[Run, ...]
) -> None:
    bob, stranger = month[1].actor, month[2].actor
    with acting(alice):
        assert {c.session.label for c in selectors.charges(alice)} == {"digits", "letters"}
    with acting(bob):
        assert {c.session.label for c in selectors.charges(bob)} == {"letters"}
    with acting(stranger):
        assert {c.session.label for c in selectors.charges(stranger)} == {"other"}
        filters = selectors.ChargeFilter(organisation_id=lab.pk)
        assert not selectors.charges(stranger, filters=filters).exists()
        with pytest.raises(Denied):
            selectors.consumption_by_organisation(stranger)


def test_the_platform_sees_every_organisation(lab: Organisation, month: tuple[Run, ...]) -> None:
    rows = list(selectors.consumption_by_organisation(PLATFORM))
    assert len(rows) == 2
    assert rows[0]["organisation_id"] == lab.pk
    assert sum(row["amount_fen"] for row in rows) == Charge.objects.aggregate(fen=Sum("amount_fen"))["fen"]


def test_the_cost_of_a_running_workload_includes_what_is_not_charged_yet(alice: Actor) -> None:
    run = Run(alice, price_of(make_package(720)), replicas=2).open().seen(HOUR)
    services.rate_due(PLATFORM, until=LATER)
    run.seen(HOUR + timedelta(seconds=30))
    cost = selectors.workload_cost(alice, workload_id=run.workload_id)
    assert (cost.charged_fen, cost.unrated_fen, cost.exact_fen) == (1440, Decimal(12), Decimal(1452))
    assert (cost.seconds, cost.rate_fen_per_hour) == (Decimal(3630), Decimal(1440))


def test_a_run_that_cost_less_than_a_fen_is_not_said_to_be_free(lab: Organisation, alice: Actor) -> None:
    run = Run(alice, price_of(make_package(72))).open().close(timedelta(seconds=12))
    services.rate_due(PLATFORM, until=LATER)
    cost = selectors.workload_cost(alice, workload_id=run.workload_id)
    assert (cost.charged_fen, cost.rated_exact, cost.is_below_a_fen) == (0, Decimal("0.24"), True)
    with acting(system_actor()):
        client = signed_in(User.objects.get(pk=alice.person()))
    page = client.get(f"/billing/consumption/{run.workload_id}/").content.decode()
    assert "¥0.0024" in page
    assert "less than a fen so far, carried on" in page
    assert not replace(cost, charged_fen=1).is_below_a_fen
    assert not replace(cost, exact_fen=Decimal(0)).is_below_a_fen  # free is free


def test_the_task_rates_and_assesses(lab: Organisation, alice: Actor) -> None:
    run = Run(alice, price_of(make_package(720)), opened=NOON - timedelta(days=400))
    run.open().close(HOUR)
    rate()
    assert MeterSession.objects.get(pk=run.session_id).settled
    assert selectors.wallet(PLATFORM, organisation_id=lab.pk).status == "grace"
