"""Moments that come: each is started once as the owner, or skipped with a reason that the history tells."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta
from typing import Any
from unittest import mock

import pytest
from django.db import connection

from apps.billing.models import Package
from apps.common.scoping import acting
from apps.notifications.models import Notice
from apps.schedules import runs as of_runs
from apps.schedules import services, states
from apps.schedules.choices import MOST_REFUSALS, Overlap, PauseReason, ScheduleStatus, StartStatus, Why
from apps.schedules.models import Schedule, ScheduledStart
from apps.schedules.reconcile import due, starting
from apps.tenants import quotas
from apps.tenants.choices import Resource
from apps.tenants.models import Membership
from apps.training.models import Run
from apps.workloads.choices import Status
from tests.builders import World, platform
from tests.schedules import kit
from tests.training import kit as training

pytestmark = pytest.mark.django_db
DAY = timedelta(days=1)


def runs() -> int:
    with acting(platform()):
        return Run.objects.count()


def test_a_moment_starts_the_run_again_as_its_next_version(world: World) -> None:
    row = kit.schedule(world)
    kit.turn()
    assert kit.starts(row) == []
    moment = kit.come(row)
    (start,) = kit.starts(row)
    assert (start.moment, start.status, start.missed) == (moment, StartStatus.STARTED, 0)
    assert start.run is not None
    assert (start.run.parent_id, start.run.version, start.run.owner_id) == (row.run_id, 2, world.alice.pk)
    assert kit.again(row).next_at == moment + DAY


def test_nothing_starts_before_its_moment(world: World) -> None:
    row = kit.schedule(world)
    kit.come(row, ago=timedelta(seconds=-1))
    assert kit.starts(row) == []


def test_moments_that_passed_while_the_platform_stood_still_are_one_start(world: World) -> None:
    row = kit.schedule(world)
    first = kit.come(row, ago=5 * DAY + timedelta(hours=3))
    (start,) = kit.starts(row)
    assert (start.moment, start.missed) == (first + 5 * DAY, 5)
    assert kit.again(row).next_at == first + 6 * DAY


def test_a_long_stop_of_a_schedule_for_every_minute_is_one_start(world: World) -> None:
    row = kit.schedule(world, cron="* * * * *")
    first = kit.come(row, ago=30 * DAY)
    (start,) = kit.starts(row)
    assert (start.moment, start.missed) == (first + 30 * DAY, 1000)


def test_the_last_moment_is_started_and_then_it_is_over(world: World) -> None:
    row = kit.schedule(world)
    moment = row.next_at
    assert moment is not None
    with acting(world.actor):
        services.change(world.actor, row, services.Plan(name="nightly", cron="0 2 * * *", until_at=moment))
    kit.turn(moment + 9 * DAY)
    (start,) = kit.starts(row)
    assert (start.moment, start.missed) == (moment, 0)
    assert (kit.again(row).status, kit.again(row).next_at) == (ScheduleStatus.ENDED, None)


def test_skip_where_the_last_one_still_lives(world: World) -> None:
    row = kit.schedule(world)
    kit.come(row)
    kit.come(row)
    first, second = kit.starts(row)
    assert (second.status, second.why) == (StartStatus.SKIPPED, Why.STILL_RUNNING)
    assert first.run is not None
    kit.put(first.run, Status.SUCCEEDED)
    kit.come(row)
    assert kit.starts(row)[-1].status == StartStatus.STARTED
    assert kit.again(row).refusals == 0


def test_wait_starts_one_once_the_last_has_ended_and_skips_what_comes_meanwhile(world: World) -> None:
    row = kit.schedule(world, overlap=Overlap.WAIT)
    for _number in range(3):
        kit.come(row)
    first, second, third = kit.starts(row)
    assert (second.status, third.why) == (StartStatus.WAITING, Why.SUPERSEDED)
    assert first.run is not None
    kit.put(first.run, Status.FAILED)
    kit.turn()
    assert kit.starts(row)[1].status == StartStatus.STARTED


def test_replace_stops_the_last_one_and_starts_once_it_has_ended(world: World) -> None:
    row = kit.schedule(world, overlap=Overlap.REPLACE)
    kit.come(row)
    kit.come(row)
    first, _second = kit.starts(row)
    assert first.run is not None
    assert first.run.workload.status == Status.STOPPED  # it was queued, so it ended at once
    kit.turn()
    assert kit.starts(row)[1].status == StartStatus.STARTED


def limit_runs(world: World, most: int) -> None:
    with acting(platform()):
        quotas.set_limit(platform(), organisation_id=world.organisation.pk, resource=Resource.RUNS, limit=most)


def test_refused_starts_say_why_and_the_schedule_pauses_itself_and_tells_its_owner(world: World) -> None:
    row = kit.schedule(world)
    limit_runs(world, 0)
    for _number in range(MOST_REFUSALS):
        assert kit.again(row).status == ScheduleStatus.ACTIVE
        kit.come(row)
    found = kit.starts(row)
    assert {start.why for start in found} == {Why.QUOTA}
    assert all(start.detail for start in found)
    after = kit.again(row)
    assert (after.status, after.pause_reason, after.next_at) == (ScheduleStatus.PAUSED, PauseReason.REFUSALS, None)
    with acting(platform()):
        assert Notice.objects.filter(user=world.alice, kind="schedule.paused").count() == 1
    assert runs() == 1


def test_a_start_between_refusals_begins_the_count_anew(world: World) -> None:
    row = kit.schedule(world)
    limit_runs(world, 0)
    kit.come(row)
    kit.come(row)
    limit_runs(world, 9)
    kit.come(row)
    assert kit.again(row).refusals == 0
    limit_runs(world, 0)
    started = kit.starts(row)[-1].run
    assert started is not None
    kit.put(started, Status.SUCCEEDED)
    kit.come(row)
    assert kit.again(row).status == ScheduleStatus.ACTIVE


def test_rights_and_package_are_asked_at_that_moment(world: World) -> None:
    row = kit.schedule(world)
    with acting(platform()):
        Package.objects.filter(pk=world.package.pk).update(active=False)
    kit.come(row)
    with acting(platform()):
        Membership.objects.filter(user=world.alice).delete()
    kit.come(row)
    assert [start.why for start in kit.starts(row)] == [Why.PACKAGE, Why.RIGHTS]
    assert runs() == 1


def test_an_account_that_is_closed_starts_nothing(world: World) -> None:
    row = kit.schedule(world)
    world.alice.is_active = False
    world.alice.save()
    kit.come(row)
    assert kit.starts(row)[0].why == Why.RIGHTS


def test_by_hand_also_while_paused_and_while_the_last_one_lives(world: World) -> None:
    row = kit.schedule(world)
    kit.come(row)
    with acting(world.actor):
        services.pause(world.actor, row)
        services.run_now(world.actor, row, "once")
        services.run_now(world.actor, row, "once")
    kit.turn()
    assert [start.status for start in kit.starts(row)].count(StartStatus.STARTED) == 2
    assert len(kit.starts(row)) == 2


def test_pausing_skips_what_waits_and_resuming_makes_up_for_nothing(world: World) -> None:
    row = kit.schedule(world, overlap=Overlap.WAIT)
    kit.come(row)
    moment = kit.come(row)
    with acting(world.actor):
        services.pause(world.actor, row)
    kit.turn(moment + 9 * DAY)
    assert [start.why for start in kit.starts(row)] == ["", Why.PAUSED]
    with acting(world.actor):
        services.resume(world.actor, row)
    next_at = kit.again(row).next_at
    assert next_at is not None
    kit.turn()
    assert len(kit.starts(row)) == 2


class Killed(BaseException):
    """The process dies here."""


@contextmanager
def killed_at(target: Any, name: str, *, after: bool) -> Iterator[None]:
    """The loop dies at a call, before it or after it; as from a real death, its transaction is rolled back."""
    real = getattr(target, name)

    def die(*args: Any, **kwargs: Any) -> None:
        if after:
            real(*args, **kwargs)
        raise Killed

    with mock.patch.object(target, name, die), pytest.raises(Killed):
        yield


POINTS = [
    (due, "next_of"),
    (due.ScheduledStart.objects, "get_or_create"),
    (starting, "_owner"),
    (of_runs.runs, "rerun"),
    (states, "started"),
]


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("after", [False, True])
@pytest.mark.parametrize("point", range(len(POINTS)))
def test_a_loop_that_dies_anywhere_neither_loses_a_moment_nor_starts_it_twice(
    world: World, point: int, after: bool
) -> None:
    row = kit.schedule(world)
    moment = row.next_at
    assert moment is not None
    now = moment + timedelta(seconds=1)
    with killed_at(*POINTS[point], after=after):
        kit.turn(now)
    assert all((start.run is not None) == (start.status == StartStatus.STARTED) for start in kit.starts(row))
    kit.turn(now)
    kit.turn(now)
    (start,) = kit.starts(row)
    assert (start.moment, start.status) == (moment, StartStatus.STARTED)
    assert runs() == 2


@pytest.mark.django_db(transaction=True)
def test_two_loops_at_once_start_each_moment_once(world: World) -> None:
    run = training.submit(world)
    kit.put(run, Status.SUCCEEDED)
    rows = [kit.schedule(world, run, name=f"s{number}") for number in range(4)]
    moment = rows[0].next_at
    assert moment is not None

    def loop() -> None:
        try:
            kit.turn(moment + timedelta(seconds=1))
        finally:
            connection.close()

    both = [threading.Thread(target=loop) for _number in range(3)]
    for thread in both:
        thread.start()
    for thread in both:
        thread.join()
    kit.turn(moment + timedelta(seconds=1))
    with acting(platform()):
        assert ScheduledStart.objects.filter(status=StartStatus.STARTED).count() == 4
        assert ScheduledStart.objects.count() == 4
        assert Schedule.objects.filter(next_at=moment + DAY).count() == 4
    assert runs() == 5
