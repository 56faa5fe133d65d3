"""How long work may run in an organisation: enforced at submit, for more time, and never on what runs already."""

from collections.abc import Iterator
from uuid import uuid4

import pytest
from hypothesis import given
from hypothesis import strategies as st

from apps.audit.models import Entry
from apps.common.errors import Denied, Invalid, NotFound
from apps.common.scoping import acting
from apps.envs.choices import KIND as ENVIRONMENT
from apps.tenants import settings
from apps.training import services as training
from apps.training.choices import KIND as TRAINING
from apps.workloads.choices import Status
from apps.workloads.longest import set_longest
from apps.workloads.models import RunTimeLimit, Workload
from apps.workloads.run_times import RunTimes
from apps.workloads.time_limits import (
    DEFAULT,
    Limit,
    RunTimeSettings,
    carried,
    limit_lines,
    limit_of,
    refuse_raise,
    set_limits,
    within,
)
from tests.builders import World, make_staff, make_world, platform, reload, staff_actor
from tests.training import kit

pytestmark = pytest.mark.django_db
HOUR = 3600


@pytest.fixture
def world() -> Iterator[World]:
    with acting(platform()):
        yield make_world()


def limit(world: World, seconds: int | None, kind: str = TRAINING) -> int:
    with acting(platform()) as actor:
        return set_limits(actor, organisation_id=world.organisation.pk, limits={kind: Limit(seconds, own=True)})


def default(**longest_s: int) -> None:
    with acting(staff_actor(make_staff())) as actor:
        settings.put(actor, RunTimeSettings(longest_s))


def test_more_is_refused_with_a_sentence_and_nothing_is_left_behind(world: World) -> None:
    limit(world, HOUR)
    before = kit.counts()
    with pytest.raises(Invalid, match="lets it run for 1 h at most") as refused:
        kit.submit(world, longest_s=HOUR + 1)
    assert list(refused.value.fields) == ["longest"]
    assert "checkpoints" in str(refused.value.hint)
    with pytest.raises(Invalid, match="cannot be expected to run for longer"):
        kit.submit(world, expected_s=2 * HOUR)
    assert kit.counts() == before
    assert kit.submit(world, longest_s=HOUR).workload.longest_s == HOUR


def test_who_says_nothing_gets_the_limit(world: World) -> None:
    assert kit.submit(world).workload.longest_s is None
    limit(world, HOUR)
    assert kit.submit(world).workload.longest_s == HOUR
    limit(world, 2 * HOUR, ENVIRONMENT)  # another kind's
    assert kit.submit(world).workload.longest_s == HOUR


def test_the_platforms_default_counts_until_there_is_an_own_one(world: World) -> None:
    organisation = world.organisation.pk
    default(training=2 * HOUR)
    assert limit_of(organisation, TRAINING) == Limit(2 * HOUR)
    assert limit_of(organisation, ENVIRONMENT) == Limit(None)
    limit(world, None)  # without one, whatever the platform's is
    assert kit.submit(world).workload.longest_s is None
    with acting(platform()) as actor:
        set_limits(actor, organisation_id=organisation, limits={TRAINING: DEFAULT})
        assert not RunTimeLimit.objects.exists()
    assert kit.submit(world).workload.longest_s == 2 * HOUR


def test_what_waits_or_runs_keeps_its_end_and_is_counted(world: World) -> None:
    run = kit.submit(world, longest_s=10 * HOUR)
    kit.submit(world)
    limit(world, HOUR)
    assert reload(run.workload).longest_s == 10 * HOUR
    line = next(each for each in limit_lines(world.organisation.pk) if each.rules.name == TRAINING)
    assert line.beyond == 2


def test_more_time_for_what_runs_respects_it_and_less_is_always_allowed(world: World) -> None:
    run = kit.submit(world, longest_s=10 * HOUR)
    limit(world, 4 * HOUR)
    with acting(world.actor):
        set_longest(world.actor, run.workload, 8 * HOUR)  # above the limit still, and less than it was
        for more in (9 * HOUR, None):
            with pytest.raises(Invalid, match="4 h at most"):
                set_longest(world.actor, run.workload, more)
        set_longest(world.actor, run.workload, HOUR)
        set_longest(world.actor, run.workload, 4 * HOUR)
    assert reload(run.workload).longest_s == 4 * HOUR


def test_what_ran_before_the_limit_runs_again_within_it(world: World) -> None:
    run = kit.submit(world, longest_s=10 * HOUR, expected_s=5 * HOUR)
    limit(world, HOUR)
    with acting(world.actor):
        again = training.rerun(world.actor, run, key=uuid4().hex)
    assert (again.workload.longest_s, again.workload.expected_s) == (HOUR, HOUR)


def test_only_the_platforms_staff_set_it_and_each_change_is_audited(world: World) -> None:
    organisation = world.organisation.pk
    with acting(world.actor), pytest.raises(Denied):
        set_limits(world.actor, organisation_id=organisation, limits={TRAINING: Limit(HOUR, own=True)})
    assert [limit(world, HOUR), limit(world, HOUR), limit(world, None)] == [1, 0, 1]
    with acting(platform()) as actor:
        with pytest.raises(NotFound):
            set_limits(actor, organisation_id=uuid4(), limits={TRAINING: Limit(HOUR, own=True)})
        for wrong in (59, 367 * 24 * HOUR):
            with pytest.raises(Invalid):
                set_limits(actor, organisation_id=organisation, limits={TRAINING: Limit(wrong, own=True)})
        rows = Entry.objects.filter(action="organisation.run_time_limit").order_by("pk")
        assert [(row.before["longest_s"], row.after["longest_s"]) for row in rows] == [(None, HOUR), (HOUR, None)]
        assert {row.after["own"] for row in rows} == {True}


def test_settings_that_mean_nothing_are_refused() -> None:
    for wrong in ({"nothing": HOUR}, {"training": 59}):
        with pytest.raises(Invalid):
            RunTimeSettings(wrong).validate()


times = st.none() | st.integers(60, 100 * HOUR)


@given(longest=times, expected=times, most=times)
def test_whatever_is_asked_what_starts_stays_within(
    longest: int | None, expected: int | None, most: int | None
) -> None:
    """Submitted or carried over, the result passes the kernel's rules and never exceeds the limit."""
    if expected is not None and longest is not None and expected > longest:
        expected = longest
    asked, organisation = RunTimes(expected, longest), uuid4()
    rows = {"limit_of": lambda *_each: Limit(most)}
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("apps.workloads.time_limits.limit_of", rows["limit_of"])
        kept = carried(organisation, TRAINING, asked)
        kept.check()
        assert most is None or (kept.longest_s or most + 1) <= most
        try:
            new = within(organisation, TRAINING, asked)
        except Invalid:
            assert most is not None
            assert longest is not None
            assert longest > most
        else:
            assert new.longest_s == (longest if longest is not None else most)
        row = Workload(organisation_id=organisation, kind=TRAINING, longest_s=longest, status=Status.RUNNING)
        refuse_raise(row, longest)  # as it is: never refused
        if longest is not None and longest > 60:
            refuse_raise(row, longest - 1)
