"""The longest run time ends a run with a cause of its own, saved; its owner may change it until then."""

from collections.abc import Callable
from datetime import datetime, timedelta
from threading import Barrier, Thread
from typing import Any
from unittest.mock import patch

import pytest
from django.db import connection
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from apps.audit.models import Entry
from apps.common.clock import db_now
from apps.common.errors import Conflict, Invalid, NotFound
from apps.common.scoping import acting
from apps.tenants.choices import Role
from apps.workloads import deadlines, longest
from apps.workloads.choices import Status
from apps.workloads.longest import enforce_longest, set_longest
from apps.workloads.models import Attempt, Event, Workload
from apps.workloads.run_times import RunTimes
from apps.workloads.timeline import event_title
from tests.builders import World, actor_of, make_member, make_world, platform, reload, submit_workload
from tests.workloads.cards import make_gpu_package, scheduled, submit_on, world_of_cards

SAVES = ("sh", "-c", "trap 'sleep 0.5; echo saved; exit 0' TERM; echo go; while true; do sleep 0.1; done")
HOUR = 3600


@pytest.fixture
def limited(db: None) -> tuple[World, Workload]:
    """A run that may take an hour."""
    with acting(platform()):
        world = make_world(role=Role.ADMIN)
    with acting(world.actor):
        workload = submit_workload(world, argv=SAVES)
        set_longest(world.actor, workload, HOUR)
    return world, workload


def ran_for(workload: Workload, seconds: float) -> None:
    """As if its present attempt had begun so long ago."""
    began = db_now() - timedelta(seconds=seconds)
    Workload.objects.filter(pk=workload.pk).update(
        started_at=began, deadline_at=deadlines.deadline_expression(reload(workload), began)
    )
    Attempt.objects.filter(workload=workload, ended_at__isnull=True).update(placed_at=began, started_at=began)


def running(workload: Workload, **columns: Any) -> Workload:
    """As if it ran, without a machine."""
    Workload.objects.filter(pk=workload.pk).update(status=Status.RUNNING, started_at=db_now(), **columns)
    return reload(workload)


def test_the_queue_does_not_count_and_what_waits_again_has_no_deadline(limited: tuple[World, Workload]) -> None:
    _, workload = limited
    with acting(platform()) as actor:
        Workload.objects.filter(pk=workload.pk).update(queued_at=db_now() - timedelta(days=3))
        assert enforce_longest(actor) == 0
        assert (reload(workload).status, workload.deadline_at) == (Status.QUEUED, None)


def test_earlier_attempts_count_without_what_was_lost(limited: tuple[World, Workload]) -> None:
    world, workload = limited
    with acting(platform()):
        now = db_now()
        for number, (ran, lost) in enumerate(((1800, 600), (300, 300), (60, None)), start=1):
            Attempt.objects.create(
                organisation=world.organisation, workload=workload, number=number, node=world.node, lost_s=lost,
                placed_at=now, started_at=now, ended_at=now + timedelta(seconds=ran),
            )  # fmt: skip
        Workload.objects.filter(pk=workload.pk).update(attempt_number=4)
        running(workload)
        left = deadlines.deadline_of(workload, HOUR)
        assert workload.started_at is not None
        assert left == workload.started_at + timedelta(seconds=HOUR - 1200 - 60)


def test_its_owner_changes_it_while_it_runs(limited: tuple[World, Workload]) -> None:
    world, workload = limited
    with acting(platform()):
        running(workload)
        ran_for(workload, 1800)
    with acting(world.actor):
        with pytest.raises(Invalid, match="It has run for 30 min already"):
            set_longest(world.actor, workload, 1830)
        set_longest(world.actor, workload, 2 * HOUR)
        assert workload.deadline_at == (workload.started_at or db_now()) + timedelta(hours=2)
        set_longest(world.actor, workload, None)
        assert (workload.longest_s, workload.deadline_at) == (None, None)
        for seconds in (59, 366 * 86_400 + 1):
            with pytest.raises(Invalid):
                set_longest(world.actor, workload, seconds)
    with acting(platform()):
        assert Entry.objects.filter(action="workload.longest").count() == 3
        titles = [
            event_title(event) for event in Event.objects.filter(workload=workload, kind="longest").order_by("pk")
        ]
        assert titles[1:] == [
            f"{world.actor.label} set its longest run time to 2 h",
            f"{world.actor.label} took its longest run time away",
        ]


def test_only_who_may_change_the_run_does_and_not_once_it_ends(limited: tuple[World, Workload]) -> None:
    world, workload = limited
    with acting(platform()):
        bob = actor_of(make_member(world.organisation, "bob"), world.organisation)
    with acting(bob), pytest.raises(NotFound):
        set_longest(bob, workload, None)
    with acting(platform()):
        Workload.objects.filter(pk=workload.pk).update(status=Status.STOPPING)
    with acting(world.actor), pytest.raises(Conflict):
        set_longest(world.actor, workload, 2 * HOUR)


def test_times_that_contradict_each_other_are_refused() -> None:
    RunTimes(3600, 3600, 5).check()
    for wrong, field in (
        (RunTimes(expected_s=3601, longest_s=3600), "expected"),
        (RunTimes(expected_s=59), "expected"),
        (RunTimes(longest_s=1), "longest"),
        (RunTimes(gpu_idle_minutes=4), "gpu_idle"),
    ):
        with pytest.raises(Invalid) as refused:
            wrong.check()
        assert list(refused.value.fields) == [field]


def together(*calls: Callable[[], None]) -> None:
    threads = [Thread(target=call) for call in calls]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("turn", range(6))
def test_a_change_and_the_stop_meet_and_one_of_them_wins(turn: int) -> None:
    """The deadline passes while its owner asks for more: either it is stopped and the change refused, or it goes on."""
    with acting(platform()):
        world = make_world(role=Role.ADMIN)
        with acting(world.actor):
            workload = submit_workload(world)
            set_longest(world.actor, workload, HOUR)
        running(workload)
        ran_for(workload, HOUR + 1)
    start, outcome = Barrier(2), dict[str, object]()

    def extend() -> None:
        try:
            with acting(world.actor):
                start.wait()
                set_longest(world.actor, Workload.objects.get(pk=workload.pk), 2 * HOUR)
            outcome["extended"] = True
        except Conflict:
            outcome["extended"] = False
        finally:
            connection.close()

    def enforce() -> None:
        try:
            with acting(platform()) as actor:
                start.wait()
                outcome["stopped"] = enforce_longest(actor)
        finally:
            connection.close()

    together(*((extend, enforce) if turn % 2 else (enforce, extend)))
    with acting(platform()) as actor:
        reload(workload)
        assert outcome["extended"] is not bool(outcome["stopped"])
        assert (workload.status == Status.STOPPING) == bool(outcome["stopped"])
        assert (workload.longest_s == 2 * HOUR) == outcome["extended"]
        assert enforce_longest(actor) == 0


steps = st.lists(
    st.tuples(st.sampled_from(["wait", "wait", "look", "extend", "remove"]), st.integers(1, 4000)), max_size=14
)


@pytest.mark.django_db
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])  # each example puts the row back
@given(steps=steps)
def test_it_is_never_ended_early_and_by_the_first_look_after_its_deadline(
    limited: tuple[World, Workload], steps: list[tuple[str, int]]
) -> None:
    """Against a model that knows nothing but the clock and the last limit that was accepted."""
    _, workload = limited
    with acting(platform()) as actor, patch.object(longest, "db_now", lambda: now):
        Workload.objects.filter(pk=workload.pk).update(
            status=Status.RUNNING, longest_s=HOUR, stop_reason="", stop_by=None, deadline_told_at=None
        )
        began = db_now()
        now = began
        Workload.objects.filter(pk=workload.pk).update(
            started_at=began, deadline_at=began + timedelta(seconds=HOUR), status=Status.RUNNING
        )
        end: datetime | None = began + timedelta(seconds=HOUR)
        for what, seconds in steps:
            over = end is not None and now >= end
            if what == "wait":
                now += timedelta(seconds=seconds)
            elif what == "look":
                assert enforce_longest(actor) == over
                if over:
                    break
            else:
                wanted = None if what == "remove" else max(60, seconds)
                then = None if wanted is None else began + timedelta(seconds=wanted)
                try:
                    set_longest(actor, reload(workload), wanted)
                    assert then is None or then >= now + timedelta(seconds=60)
                    end = then
                except Invalid:
                    assert then is not None
                    assert then < now + timedelta(seconds=60)
            assert reload(workload).status == Status.RUNNING
        else:
            return
        assert reload(workload).status == Status.STOPPING


def test_a_start_can_be_told_on_the_first_day_where_owners_say_how_long_they_run(db: None) -> None:
    with acting(platform()):
        world = world_of_cards(1)
        package = make_gpu_package(1)
        first = submit_on(world.actor, package)
        Workload.objects.filter(pk=first.pk).update(expected_s=HOUR)
        assert scheduled(first).status == Status.PLACED
        second = scheduled(submit_on(world.actor, package))
        begin, late = second.explanation["start_p50"], second.explanation["start_p90"]
        placed = Attempt.objects.get(workload=first).placed_at.timestamp()
        assert begin - placed == pytest.approx(HOUR, abs=60)
        assert late - placed == pytest.approx(2 * HOUR, abs=60)
        assert second.explanation["reserved"] == []  # nobody else waits because of what an owner says
