"""Work whose cards stand idle is saved and stopped where its owner allows that; a card nobody sees is not idle."""

from collections.abc import Iterator
from datetime import datetime, timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from apps.audit.models import Entry
from apps.common.clock import db_now
from apps.common.errors import Conflict, Invalid, NotFound
from apps.common.scoping import acting
from apps.notifications.models import Notice
from apps.workloads import faults
from apps.workloads.choices import Reason, Status
from apps.workloads.drivers.base import Observation, Phase, Usage
from apps.workloads.gpu_idleness import BLIND, enforce_gpu_idleness, set_gpu_idle, use_columns
from apps.workloads.models import Attempt, Event, Workload
from apps.workloads.timeline import event_title
from tests.builders import World, actor_of, make_member, platform, reload
from tests.workloads.cards import make_gpu_package, scheduled, submit_on, world_of_cards

MINUTES = 30


@pytest.fixture
def lab(db: None) -> Iterator[World]:
    with acting(platform()):
        yield world_of_cards(1)


def running(world: World, minutes: int | None = MINUTES) -> Workload:
    """As if it ran on its card, without a machine."""
    workload = scheduled(submit_on(world.actor, make_gpu_package(1)))
    assert workload.status == Status.PLACED
    now = db_now()
    Workload.objects.filter(pk=workload.pk).update(status=Status.RUNNING, started_at=now)
    with acting(world.actor):
        set_gpu_idle(world.actor, workload, minutes)
    return reload(workload)


def looked(workload: Workload, used_minutes_ago: float, seen_s_ago: float = 1) -> None:
    now = db_now()
    Attempt.objects.filter(workload=workload).update(
        gpu_used_at=now - timedelta(minutes=used_minutes_ago), seen_at=now - timedelta(seconds=seen_s_ago)
    )


def turn() -> int:
    with acting(platform()) as actor:
        return enforce_gpu_idleness(actor)


def test_it_is_told_then_saved_and_stopped_with_its_cause(lab: World) -> None:
    workload = running(lab)
    looked(workload, MINUTES - 10)
    assert turn() == 0
    assert not Notice.objects.filter(kind="run.gpu_idle_soon").exists()
    looked(workload, MINUTES - 4)
    assert (turn(), turn()) == (0, 0)
    assert Notice.objects.filter(kind="run.gpu_idle_soon").count() == 1  # told once of one silence
    looked(workload, MINUTES + 1)
    assert (turn(), turn()) == (1, 0)
    assert (reload(workload).status, workload.reason) == (Status.STOPPING, Reason.GPU_IDLE)
    Workload.objects.filter(pk=workload.pk).update(status=Status.STOPPED)
    card = faults.card(reload(workload), None)
    assert card is not None
    assert card["title"] == "Stopped: its GPU was not used for 30 min"


@pytest.mark.parametrize(
    ("used_minutes_ago", "seen_s_ago", "minutes"),
    [(MINUTES - 6, 1, MINUTES), (MINUTES + 60, 120, MINUTES), (MINUTES + 60, 1, None), (MINUTES + 60, 1, 200)],
)
def test_it_goes_on_while_it_is_used_unseen_or_not_asked_for(
    lab: World, used_minutes_ago: float, seen_s_ago: float, minutes: int | None
) -> None:
    workload = running(lab, minutes)
    looked(workload, used_minutes_ago, seen_s_ago)
    assert turn() == 0
    assert reload(workload).status == Status.RUNNING


def test_work_that_was_never_seen_goes_on(lab: World) -> None:
    workload = running(lab)
    assert turn() == 0
    assert reload(workload).status == Status.RUNNING


def test_the_rule_is_not_changed_once_it_ends_and_means_nothing_without_a_card(lab: World) -> None:
    workload = running(lab)
    Workload.objects.filter(pk=workload.pk).update(status=Status.STOPPING)
    with acting(lab.actor), pytest.raises(Conflict):
        set_gpu_idle(lab.actor, workload, None)
    cpu = submit_on(lab.actor, lab.package)
    with acting(lab.actor), pytest.raises(Invalid, match="no GPU"):
        set_gpu_idle(lab.actor, cpu, MINUTES)
    assert reload(cpu).gpu_idle_minutes is None


def test_it_is_switched_on_changed_and_off_while_it_runs_told_and_audited(lab: World) -> None:
    workload = running(lab, None)
    looked(workload, MINUTES + 60)
    assert turn() == 0
    with acting(lab.actor):
        set_gpu_idle(lab.actor, workload, MINUTES)
    assert turn() == 0  # two hours idle before the rule was set: counted from the rule on
    assert reload(workload).status == Status.RUNNING
    with acting(lab.actor):
        set_gpu_idle(lab.actor, workload, 60)
        set_gpu_idle(lab.actor, workload, 60)  # as it is: counted anew, and nothing to tell
        set_gpu_idle(lab.actor, workload, None)
    looked(workload, MINUTES + 60)
    assert turn() == 0
    assert reload(workload).gpu_idle_minutes is None
    who = lab.actor.label
    titles = [event_title(event) for event in Event.objects.filter(workload=workload, kind="gpu_idle").order_by("pk")]
    assert titles == [
        f"{who} lets it stop once its GPU has not been used for 30 min",
        f"{who} lets it stop once its GPU has not been used for 1 h",
        f"{who} let it run on, however long its GPU is not used",
    ]
    rows = Entry.objects.filter(action="workload.gpu_idle").order_by("pk").values_list("before", "after")
    assert [(before["gpu_idle_minutes"], after["gpu_idle_minutes"]) for before, after in rows] == [
        (None, MINUTES),
        (MINUTES, 60),
        (60, None),
    ]


def test_a_colleague_does_not_change_it(lab: World) -> None:
    workload = running(lab)
    bob = actor_of(make_member(lab.organisation, "bob"), lab.organisation)
    with acting(bob), pytest.raises(NotFound):
        set_gpu_idle(bob, workload, None)
    assert reload(workload).gpu_idle_minutes == MINUTES


Look = tuple[float, float | None, bool]
looks = st.lists(
    st.tuples(st.floats(0.5, 300), st.none() | st.sampled_from([0.0, 0.4, 1.0, 80.0]), st.booleans()), max_size=30
)


@given(looks)
def test_the_last_use_is_never_older_than_the_last_moment_that_was_not_seen_idle(steps: list[Look]) -> None:
    """A model that keeps only how long, without a gap, every look has found the card unused."""
    now = datetime.fromisoformat("2026-11-23T12:00+00:00")
    program, idle_since = Attempt(), None
    for seconds, pct, runs in steps:
        gap = timedelta(seconds=seconds)
        now += gap
        usage = Usage(at_s=0.0, cpu_milli=0, memory_mib=0, gpu_util_pct=pct)
        seen = Observation(Phase.RUNNING if runs else Phase.IMAGE, usage=usage)
        changed: dict[str, Any] = use_columns(program, seen, now)
        unused = runs and pct is not None and pct < 1.0
        if not unused or program.seen_at is None or gap > BLIND:
            idle_since = now
        for name, value in {**changed, "seen_at": now}.items():
            setattr(program, name, value)
        assert program.gpu_used_at == idle_since
