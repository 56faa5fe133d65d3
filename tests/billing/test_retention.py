"""From suspension to the release of data, and back: announced 7, 3 and 1 days before, each once, whatever happens."""

from datetime import datetime, timedelta

import pytest
from django.db import transaction
from django.db.models import Count
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from apps.audit.models import Entry
from apps.billing import selectors, services
from apps.billing.arrears import states
from apps.billing.choices import ArrearsStatus
from apps.billing.models import ArrearsState
from apps.common.actor import Actor
from apps.common.errors import Denied, Invalid
from apps.notifications.models import Notice
from apps.tenants.choices import Role
from apps.tenants.models import Organisation
from tests.billing.builders import NOON, PLATFORM, Run, make_member, make_organisation, make_package, price_of, top_up
from tests.searching import examples

S = ArrearsStatus
DAY, MINUTE = timedelta(days=1), timedelta(minutes=1)


def owe(organisation: Organisation, alice: Actor, fen: int = 100) -> None:
    """A debt, with nothing running any more."""
    Run(alice, price_of(make_package(fen))).open().close(timedelta(hours=1))
    services.rate_due(PLATFORM, until=NOON + timedelta(hours=2))


def suspended(organisation: Organisation, alice: Actor) -> None:
    """Since NOON."""
    owe(organisation, alice)
    services.arrears_sweep(PLATFORM, now=NOON - DAY)
    services.arrears_sweep(PLATFORM, now=NOON)
    assert row(organisation).status == S.SUSPENDED


def row(organisation: Organisation) -> ArrearsState:
    found: ArrearsState = ArrearsState.objects.get(pk=organisation.pk)
    return found


def release_at(organisation: Organisation) -> datetime:
    found = row(organisation).release_at
    assert found is not None
    return found


def sweep(*days: float) -> list[ArrearsStatus]:
    """One look at each of these days after the suspension; where they lead."""
    looks = [services.arrears_sweep(PLATFORM, now=NOON + day * DAY) for day in days]
    return [change.after for changes in looks for change in changes]


def announced() -> list[tuple[int, str]]:
    notices = Notice.objects.filter(kind="billing.release_pending").order_by("pk")
    return [(each.data["days"], each.data["release_at"]) for each in notices]


def test_a_release_is_announced_three_times_and_then_happens(lab: Organisation, alice: Actor) -> None:
    suspended(lab, alice)
    end = (NOON + 30 * DAY).isoformat()
    assert sweep(1, 22.9) == []
    assert sweep(23, 23.1, 26.9) == [S.RELEASE_PENDING]
    assert sweep(27, 27.5, 28.9, 29, 29.9) == []
    assert announced() == [(7, end), (3, end), (1, end)]
    assert sweep(30, 31) == [S.RELEASED]
    assert selectors.released_organisation_ids() == {lab.pk}
    assert selectors.suspended_organisation_ids() == {lab.pk}


def test_after_a_time_without_sweeps_each_announcement_still_has_its_days(lab: Organisation, alice: Actor) -> None:
    suspended(lab, alice)
    assert sweep(100) == [S.RELEASE_PENDING]
    assert release_at(lab) >= NOON + 107 * DAY - states.LATE
    assert sweep(120, 120.1) == []
    assert release_at(lab) >= NOON + 123 * DAY - states.LATE
    assert sweep(122.5, 123.5) == [S.RELEASED]
    assert [days for days, _end in announced()] == [7, 3, 1]


@pytest.mark.parametrize("day", [0.5, 23, 27, 29, 30])
def test_a_top_up_returns_to_normal_from_each_state(lab: Organisation, alice: Actor, day: float) -> None:
    suspended(lab, alice)
    sweep(*(each for each in (23, 27, 29, 30) if each <= day))
    top_up(lab, 1000)
    now = row(lab)
    assert (now.status, now.release_at, now.told_days) == (S.NORMAL, None, None)
    assert Notice.objects.order_by("-pk").first().kind == "billing.restored"  # type: ignore[union-attr]


def test_an_organisation_has_terms_of_its_own_with_their_trace_in_the_log(lab: Organisation, alice: Actor) -> None:
    services.set_arrears_terms(PLATFORM, organisation_id=lab.pk, grace_minutes=60, retention_days=10)
    services.set_arrears_terms(PLATFORM, organisation_id=lab.pk, grace_minutes=60, retention_days=10)
    entry = Entry.objects.get(action="billing.arrears_terms")
    assert (entry.before["grace_minutes"], entry.after["retention_days"]) == (None, 10)
    owe(lab, alice)
    services.arrears_sweep(PLATFORM, now=NOON)
    assert selectors.wallet(PLATFORM, organisation_id=lab.pk).grace_until == NOON + 60 * MINUTE or row(lab).since
    assert services.arrears_sweep(PLATFORM, now=NOON + 59 * MINUTE) == []
    assert services.arrears_sweep(PLATFORM, now=NOON + 60 * MINUTE)[0].after == S.SUSPENDED
    assert sweep(2.9) == []
    assert sweep(3.1) == [S.RELEASE_PENDING]


def test_a_longer_retention_puts_an_announced_release_off_and_a_shorter_one_never_brings_it_forward(
    lab: Organisation, alice: Actor
) -> None:
    suspended(lab, alice)
    sweep(23)
    before = row(lab).release_at
    assert before is not None
    services.set_arrears_terms(PLATFORM, organisation_id=lab.pk, grace_minutes=None, retention_days=60)
    assert row(lab).release_at == before + 30 * DAY
    services.set_arrears_terms(PLATFORM, organisation_id=lab.pk, grace_minutes=None, retention_days=7)
    assert row(lab).release_at == before + 30 * DAY


@pytest.mark.parametrize(("grace", "retention"), [(-1, None), (None, 6), (None, 4000), (129_601, None)])
def test_terms_out_of_bounds_are_refused(lab: Organisation, grace: int | None, retention: int | None) -> None:
    with pytest.raises(Invalid):
        services.set_arrears_terms(PLATFORM, organisation_id=lab.pk, grace_minutes=grace, retention_days=retention)


def test_only_who_may_recharge_sets_terms(lab: Organisation, alice: Actor) -> None:
    with pytest.raises(Denied):
        services.set_arrears_terms(alice, organisation_id=lab.pk, grace_minutes=1, retention_days=None)


STEPS = st.lists(
    st.one_of(
        st.tuples(st.just("pass"), st.sampled_from([MINUTE, timedelta(hours=5), DAY, 3 * DAY, 9 * DAY])),
        st.tuples(st.just("use"), st.sampled_from([1, 300])),
        st.tuples(st.just("pay"), st.sampled_from([1, 100, 5000])),
        st.tuples(st.just("sweep"), st.integers(1, 3)),
    ),
    min_size=5,
    max_size=30,
)


@pytest.mark.django_db
@settings(
    max_examples=examples(12), derandomize=True, deadline=None, database=None, suppress_health_check=list(HealthCheck)
)
@given(steps=STEPS)
def test_any_order_of_top_ups_usage_and_sweeps_walks_legal_edges_and_tells_each_once(
    platform: Actor, steps: list[tuple[str, object]]
) -> None:
    with transaction.atomic():
        _walk(steps)
        transaction.set_rollback(True)


def _walk(steps: list[tuple[str, object]]) -> None:
    lab = make_organisation()
    alice, price = make_member(lab, Role.ADMIN), price_of(make_package(100))
    now = NOON
    for what, value in steps:
        if isinstance(value, timedelta):
            now += value
        elif what == "use" and isinstance(value, int):
            Run(alice, price, opened=now).open().close(timedelta(hours=value))
            services.rate_due(PLATFORM, until=now + timedelta(hours=value + 1))
        elif what == "pay" and isinstance(value, int):
            _step(lab, lambda fen=value: top_up(lab, fen))
        elif isinstance(value, int):
            for _again in range(value):
                _step(lab, lambda at=now: services.arrears_sweep(PLATFORM, now=at))
    kinds = Notice.objects.filter(organisation=lab).values_list("dedup").annotate(n=Count("pk"))
    assert all(count == 1 for _key, count in kinds)
    moves = Notice.objects.filter(organisation=lab).exclude(kind="billing.topped_up")
    assert moves.count() == (row(lab).changes if _known(lab) else 0)
    _announcements_are_whole(lab)


def _known(lab: Organisation) -> bool:
    return ArrearsState.objects.filter(pk=lab.pk).exists()


def _step(lab: Organisation, act: object) -> None:
    before = row(lab).status if _known(lab) else S.NORMAL
    act()  # type: ignore[operator]
    after = row(lab).status if _known(lab) else S.NORMAL
    assert before == after or ArrearsStatus(after) in states.TRANSITIONS[ArrearsStatus(before)]


def _announcements_are_whole(lab: Organisation) -> None:
    """Before each release: 7, 3 and 1, in this order, since data was last in order."""
    told: list[int] = []
    for notice in Notice.objects.filter(organisation=lab).exclude(kind="billing.topped_up").order_by("pk"):
        if notice.kind == "billing.release_pending":
            told.append(notice.data["days"])
            assert datetime.fromisoformat(notice.data["release_at"])
        elif notice.kind == "billing.released":
            assert told == [7, 3, 1]
        else:
            told = []
