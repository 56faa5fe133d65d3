"""What happens when the money runs out."""

from datetime import datetime, timedelta
from decimal import Decimal
from unittest.mock import patch

import pytest

from apps.audit.models import Entry
from apps.billing import policy, selectors, services
from apps.billing.arrears import states
from apps.billing.choices import ArrearsStatus
from apps.billing.models import ArrearsState
from apps.common.actor import Actor
from apps.common.errors import Conflict, InsufficientFunds
from apps.notifications.models import Notice
from apps.tenants.models import Organisation
from tests.billing.builders import NOON, PLATFORM, Run, make_package, price_of, top_up

S = ArrearsStatus
HOUR, MINUTE = timedelta(hours=1), timedelta(minutes=1)


@pytest.fixture
def run(alice: Actor) -> Run:
    return Run(alice, price_of(make_package(100)))


def sweep(now: datetime = NOON) -> list[tuple[ArrearsStatus, ArrearsStatus]]:
    return [(change.before, change.after) for change in services.arrears_sweep(PLATFORM, now=now)]


def status(organisation: Organisation) -> ArrearsStatus:
    return selectors.wallet(PLATFORM, organisation_id=organisation.pk).status


def consume(run: Run, hours: int) -> None:
    """Run alone for so many hours, rated."""
    run.open().seen(hours * HOUR)
    services.rate_due(PLATFORM, until=NOON + 1000 * HOUR)


def test_the_whole_way_down_and_back(lab: Organisation, run: Run) -> None:
    top_up(lab, 2500)
    consume(run, 0)
    assert sweep() == []
    consume(run, 2)
    assert sweep() == [(S.NORMAL, S.LOW)]
    assert sweep() == []
    consume(run, 25)
    assert sweep(NOON) == [(S.LOW, S.GRACE)]
    assert sweep(NOON + policy.GRACE - MINUTE) == []
    assert selectors.suspended_organisation_ids() == frozenset()
    assert sweep(NOON + policy.GRACE) == [(S.GRACE, S.SUSPENDED)]
    assert selectors.suspended_organisation_ids() == {lab.pk}
    consume(run, 26)
    run.close(26 * HOUR)
    assert sweep(NOON + 5 * HOUR) == []
    top_up(lab, 200)
    assert status(lab) == S.NORMAL
    assert selectors.suspended_organisation_ids() == frozenset()


def test_each_step_is_told_once_and_logged(lab: Organisation, run: Run) -> None:
    top_up(lab, 100)
    consume(run, 1)
    for minutes in range(12):
        sweep(NOON + minutes * MINUTE)
    top_up(lab, 5000)
    told = Notice.objects.exclude(kind="billing.topped_up").order_by("pk")
    kinds = list(told.values_list("kind", flat=True))
    assert kinds == ["billing.grace", "billing.suspended", "billing.restored"]
    grace = Notice.objects.get(kind="billing.grace")
    assert grace.data["grace_until"] == (NOON + policy.GRACE).isoformat()
    moves = Entry.objects.filter(action="billing.arrears").order_by("pk").values_list("before", "after")
    assert [(before["status"], after["status"]) for before, after in moves] == [
        ("normal", "grace"),
        ("grace", "suspended"),
        ("suspended", "normal"),
    ]


def test_holds_count_as_funds_of_what_runs(lab: Organisation, run: Run) -> None:
    top_up(lab, 100)
    run.hold()
    run.open()
    assert selectors.wallet(PLATFORM, organisation_id=lab.pk).available_fen == 0
    assert sweep() == [(S.NORMAL, S.LOW)]


def test_low_does_not_flap_with_work_that_comes_and_goes(lab: Organisation, run: Run) -> None:
    top_up(lab, 1000)
    run.open()
    assert sweep() == [(S.NORMAL, S.LOW)]
    run.close(MINUTE)
    services.rate_due(PLATFORM, until=NOON + HOUR)
    assert sweep() == []
    Run(run.actor, run.price).open()
    assert sweep() == []
    top_up(lab, 1400)
    assert status(lab) == S.LOW
    top_up(lab, 10)
    assert status(lab) == S.NORMAL


def test_an_empty_wallet_that_runs_nothing_owes_nothing(lab: Organisation, run: Run) -> None:
    services.set_credit_limit(PLATFORM, organisation_id=lab.pk, credit_limit_fen=0)
    assert sweep() == []
    Run(run.actor, price_of(make_package(0))).open()
    assert sweep() == []
    assert status(lab) == S.NORMAL


def test_a_debt_is_pursued_after_the_work_has_ended(lab: Organisation, run: Run) -> None:
    run.open().close(HOUR)
    services.rate_due(PLATFORM, until=NOON + HOUR)
    assert sweep() == [(S.NORMAL, S.GRACE)]
    suspended = NOON + policy.GRACE
    assert sweep(suspended) == [(S.GRACE, S.SUSPENDED)]
    with patch("apps.billing.recharges.services.db_now", lambda: suspended):
        top_up(lab, 100)
        assert status(lab) == S.SUSPENDED
        top_up(lab, 1)
        assert status(lab) == S.NORMAL


def test_credit_keeps_an_organisation_running(lab: Organisation, run: Run) -> None:
    services.set_credit_limit(PLATFORM, organisation_id=lab.pk, credit_limit_fen=100_000)
    consume(run, 5)
    assert sweep() == []


@pytest.mark.parametrize("blocked", [S.GRACE, S.SUSPENDED])
def test_nothing_new_starts_in_arrears(lab: Organisation, run: Run, blocked: ArrearsStatus) -> None:
    consume(run, 1)
    sweep()
    if blocked is S.SUSPENDED:
        sweep(NOON + policy.GRACE)
    assert status(lab) == blocked
    with pytest.raises(InsufficientFunds, match="used up"):
        Run(run.actor, run.price).hold()
    assert Run(run.actor, price_of(make_package(0))).hold().amount_fen == 0


def test_a_move_off_the_table_is_refused(lab: Organisation) -> None:
    state = ArrearsState.objects.create(organisation=lab)
    position = states.Position(0, Decimal(0))
    for to in (S.SUSPENDED, S.RELEASED, S.NORMAL):
        with pytest.raises(Conflict):
            states.move(PLATFORM, state, to, position=position, now=NOON)


def test_whoever_comes_second_moves_nothing(lab: Organisation, alice: Actor) -> None:
    state = ArrearsState.objects.create(organisation=lab)
    position = states.Position(0, Decimal(1))
    assert states.move(PLATFORM, state, S.GRACE, position=position, now=NOON)
    assert not states.move(PLATFORM, state, S.GRACE, position=position, now=NOON)
    assert Notice.objects.count() == 1
