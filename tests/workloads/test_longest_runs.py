"""Programs that reach their longest run time: told, saved, stopped, and let on with more time."""

import json
from datetime import timedelta

import pytest

from apps.common.scoping import acting
from apps.notifications.models import Notice
from apps.notifications.words import words
from apps.workloads import faults, longest, saving, states
from apps.workloads.choices import Reason, Status
from apps.workloads.drivers.base import Handle
from apps.workloads.drivers.local.environment import NOTICE_FILE
from apps.workloads.longest import enforce_longest, set_longest
from apps.workloads.models import Attempt, Event, Workload
from apps.workloads.nodes import local_driver
from apps.workloads.timeline import event_title
from tests.builders import World, platform, reload
from tests.workloads.loops import tick, until
from tests.workloads.test_run_times import HOUR, limited, ran_for

__all__ = ["limited"]  # the fixture
pytestmark = pytest.mark.programs


def test_it_is_told_saved_and_stopped_with_a_cause_of_its_own(limited: tuple[World, Workload]) -> None:
    world, workload = limited
    with acting(platform()) as actor:
        until(workload, lambda w: w.status == Status.RUNNING)
        assert workload.started_at is not None
        assert workload.deadline_at == workload.started_at + timedelta(hours=1)
        assert enforce_longest(actor) == 0
        assert not Notice.objects.filter(kind="run.time_nearly_over").exists()
        ran_for(workload, HOUR - 200)
        assert (enforce_longest(actor), enforce_longest(actor)) == (0, 0)
        notice = Notice.objects.get(user=world.alice, kind="run.time_nearly_over")  # told once
        assert "reaches its longest run time soon" in words(notice).title
        assert "1 h" in words(notice).text
        ran_for(workload, HOUR + 1)
        assert (enforce_longest(actor), enforce_longest(actor)) == (1, 0)
        asked = Attempt.objects.get(workload=workload).stop_asked_at
        assert 20 <= saving.grace_s(reload(workload), asked, 20) <= longest.MOST_SAVING.total_seconds()
        until(workload, lambda w: w.status == Status.STOPPED)
        attempt = Attempt.objects.get(workload=workload)
        assert (workload.reason, workload.fault, workload.reason_data) == (Reason.LONGEST, "", {"longest_s": HOUR})
        ended = words(Notice.objects.get(user=world.alice, kind="run.stopped_by_rule"))
        assert ended.text.startswith("It reached its longest run time. It ran for")
        card = faults.card(workload, attempt)
        assert card is not None
        assert card["title"] == "Stopped: it reached its longest run time of 1 h"
        last = Event.objects.filter(workload=workload, kind="status").order_by("-pk").first()
        assert last is not None
        assert event_title(last) == "It reached its longest run time of 1 h, so it is stopped"


def test_the_program_finds_a_notice_until_it_gets_more_time(limited: tuple[World, Workload]) -> None:
    world, workload = limited
    with acting(platform()) as actor:
        until(workload, lambda w: w.status == Status.RUNNING)
        attempt = Attempt.objects.get(workload=workload)
        file = local_driver()._run(Handle.from_dict(attempt.handle or {}).ref).notice / NOTICE_FILE
        tick()
        assert not file.exists()
        ran_for(workload, HOUR - 100)
        enforce_longest(actor)
        tick()
        told = json.loads(file.read_text())
        assert told["reason"] == "longest"
        assert 80 < told["leave_in_s"] <= 100
        assert told["save_s"] == longest.saving_time().total_seconds()
    with acting(world.actor):
        set_longest(world.actor, workload, 2 * HOUR)
    with acting(platform()) as actor:
        tick()
        assert not file.exists()
        states.stop(actor, workload, states.Why(Reason.BY_PERSON))
        until(workload, lambda w: w.status == Status.STOPPED)
