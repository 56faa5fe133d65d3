"""Low ends when it no longer holds, and does not flap: the transition function walked with arbitrary steps."""

from datetime import datetime, timedelta
from decimal import Decimal

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from apps.billing import policy, selectors, services
from apps.billing.arrears import states
from apps.billing.choices import ArrearsStatus
from apps.billing.models import ArrearsState
from apps.common.actor import Actor
from apps.notifications.models import Notice
from apps.tenants.choices import Role
from apps.tenants.models import Organisation
from tests.billing.builders import NOON, PLATFORM, Run, make_member, make_package, price_of, top_up
from tests.searching import examples

S = ArrearsStatus
MINUTE, HOUR = timedelta(minutes=1), timedelta(hours=1)
CALM = policy.LOW_CALM


def sweep(now: datetime) -> list[tuple[ArrearsStatus, ArrearsStatus]]:
    return [(change.before, change.after) for change in services.arrears_sweep(PLATFORM, now=now)]


@pytest.fixture
def admin(lab: Organisation) -> Actor:
    return make_member(lab, Role.ADMIN)


def test_low_ends_when_less_burns_for_a_while(lab: Organisation, admin: Actor) -> None:
    top_up(lab, 1479)
    dear = Run(admin, price_of(make_package(12_500))).open()
    assert sweep(NOON) == [(S.NORMAL, S.LOW)]
    dear.close(MINUTE)
    services.rate_due(PLATFORM, until=NOON + HOUR)
    Run(admin, price_of(make_package(Decimal("0.1")))).open()
    assert sweep(NOON + MINUTE) == []
    assert sweep(NOON + CALM) == []
    assert sweep(NOON + MINUTE + CALM) == [(S.LOW, S.NORMAL)]


def test_short_calm_does_not_count_together(lab: Organisation, admin: Actor) -> None:
    top_up(lab, 1000)
    price = price_of(make_package(100))
    run = Run(admin, price).open()
    assert sweep(NOON) == [(S.NORMAL, S.LOW)]
    for _round in range(4):
        run.close(MINUTE)
        services.rate_due(PLATFORM, until=NOON + HOUR)
        assert sweep(NOON + _round * CALM) == []
        run = Run(admin, price).open()
        assert sweep(NOON + _round * CALM + CALM - MINUTE) == []
    assert ArrearsState.objects.get().status == S.LOW


def test_a_top_up_that_is_not_enough_says_low_and_nothing_else(lab: Organisation, admin: Actor) -> None:
    Run(admin, price_of(make_package(100))).open().seen(HOUR)
    services.rate_due(PLATFORM, until=NOON + HOUR)
    assert sweep(NOON) == [(S.NORMAL, S.GRACE)]
    Notice.objects.all().delete()
    top_up(lab, 600)
    sweep(NOON + MINUTE)
    kinds = list(Notice.objects.order_by("pk").values_list("kind", flat=True))
    assert kinds == ["billing.topped_up", "billing.low"]
    assert selectors.wallet(PLATFORM, organisation_id=lab.pk).status == S.LOW


class Walk:
    """An organisation in memory under sweeps: what `move` and `note_calm` write, without a database."""

    def __init__(self) -> None:
        self.state = ArrearsState(status=S.NORMAL, since=NOON - HOUR, changes=0, threshold_fen=0)
        self.now = NOON
        self.told: list[tuple[datetime, ArrearsStatus]] = []

    def sweep(self, funds: int, burn: int) -> states.Position:
        position = states.Position(funds, Decimal(burn))
        to = states.due_status(self.state, position, self.now, states.Terms())
        if to is None:
            calm = self.state.status == S.LOW and not position.is_low
            self.state.calm_since = (self.state.calm_since or self.now) if calm else None
            return position
        assert to in states.TRANSITIONS[ArrearsStatus(self.state.status)]
        self.state.status, self.state.since, self.state.calm_since = to, self.now, None
        self.state.changes += 1
        self.state.threshold_fen = position.low_threshold_fen
        self.told.append((self.now, to))
        return position


STEPS = st.lists(
    st.tuples(st.integers(1, 40), st.integers(-50, 6000), st.sampled_from([0, 1, 50, 100, 250])), max_size=40
)


@settings(max_examples=examples(400), deadline=None)
@given(STEPS)
@example([(1, 2400, 100), (1, 2399, 100), (1, 2400, 100), (1, 2399, 100)])
@example([(1, -5, 100), (1, 50, 100), (1, 50, 100)])
def test_all_is_well_and_low_are_never_said_of_the_same_minutes(steps: list[tuple[int, int, int]]) -> None:
    walk = Walk()
    for minutes, funds, burn in steps:
        walk.now += minutes * MINUTE
        position = walk.sweep(funds, burn)
        normal_at = [at for at, to in walk.told[-1:] if to is S.NORMAL and at == walk.now]
        assert not (normal_at and position.is_low), "well and low at once"
    for (before, was), (after, then) in zip(walk.told, walk.told[1:], strict=False):
        if was is S.NORMAL and then is S.LOW and after - before < CALM:
            assert _dropped(steps, before, after), "low again without a steep fall"


def _dropped(steps: list[tuple[int, int, int]], before: datetime, after: datetime) -> bool:
    """Whether the funds at `after` last for less than half of what is low."""
    now = NOON
    for minutes, funds, burn in steps:
        now += minutes * MINUTE
        if now == after:
            return states.Position(funds, Decimal(burn)).is_very_low
    return False


@settings(max_examples=examples(300), deadline=None)
@given(STEPS, st.integers(2401, 10_000))
def test_low_never_outlasts_its_reason(steps: list[tuple[int, int, int]], funds: int) -> None:
    walk = Walk()
    for minutes, some, burn in steps:
        walk.now += minutes * MINUTE
        walk.sweep(some, burn)
    for _minute in range(int(CALM / MINUTE) + 3):
        walk.now += MINUTE
        walk.sweep(funds, 100)
    assert walk.state.status == S.NORMAL
