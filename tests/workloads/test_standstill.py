"""A queue that stands still beside free room: named in each pass, told after a minute, and set going again."""

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta
from unittest.mock import patch
from uuid import uuid4

import pytest
from django.test import Client
from django.utils.translation import override

from apps.common.clock import db_now
from apps.common.scoping import acting
from apps.notifications.models import Notice
from apps.notifications.words import words
from apps.tenants.choices import PlatformRole
from apps.workloads.choices import Status
from apps.workloads.models import SchedulerEpoch, Workload
from apps.workloads.queueing import standstill
from apps.workloads.reconcile.schedule import run_pass
from scheduler.timeline import Timeline
from tests.builders import World, make_staff, make_world, platform, signed_in, submit_workload


@pytest.fixture
def promised(db: None) -> Iterator[list[Workload]]:
    """Two small runs that were promised the same machine, on which nothing runs."""
    with acting(platform()):
        world = make_world(balance_fen=1_000_000)
        yield [_promised(world, place) for place in range(2)]


def _promised(world: World, place: int) -> Workload:
    with acting(world.actor):
        workload = submit_workload(world, key=uuid4().hex)
    at = db_now() + timedelta(microseconds=place)
    Workload.objects.filter(pk=workload.pk).update(promised_nodes=[str(world.node.pk)], promised_at=at)
    return workload


@contextmanager
def refusing_each_other() -> Iterator[None]:
    """As the scheduler once was: whoever was promised room keeps all others from the machine."""
    with (
        patch.object(Timeline, "allows", lambda self, task, _claims, row: not self.binding(task, row)),
        patch.object(Timeline, "claims_beside", lambda *_args: []),
    ):
        yield


def a_minute_ago() -> None:
    epoch = SchedulerEpoch.objects.get(pk=1)
    ago = (db_now() - standstill.TOLD_AFTER - timedelta(seconds=1)).isoformat()
    epoch.standing = {world: dict.fromkeys(named, ago) for world, named in epoch.standing.items()}
    epoch.save()


def test_a_standstill_is_named_told_and_ended(promised: list[Workload]) -> None:
    staff = make_staff(PlatformRole.OPS)
    with refusing_each_other():
        assert run_pass(platform()) == 0
        assert set(standstill.standing(simulated=False)) == {str(workload.pk) for workload in promised}
        assert standstill.standstill_to_show(simulated=False) is None  # one pass may leave what the next one places
        assert not Notice.objects.filter(kind="queue.standstill").exists()
        a_minute_ago()
        assert run_pass(platform()) == 0
        found = standstill.standstill_to_show(simulated=False)
        assert found is not None
        assert set(found.tasks) == {workload.pk for workload in promised}
        notice = Notice.objects.get(kind="queue.standstill", user=staff)
        with override("en"):
            assert "2 workloads have waited beside free room" in words(notice).text
        assert run_pass(platform()) == 2  # what was promised is forgotten
    run_pass(platform())
    assert {w.status for w in Workload.objects.all()} == {Status.PLACED}
    assert standstill.standstill_to_show(simulated=False) is None
    assert Notice.objects.filter(kind="queue.standstill").count() == 1


def test_a_sound_scheduler_leaves_nobody_standing(promised: list[Workload]) -> None:
    assert run_pass(platform()) == 2
    run_pass(platform())
    assert standstill.standing(simulated=False) == {}


def test_operators_see_it_on_the_queue_page_and_in_the_api(promised: list[Workload]) -> None:
    client: Client = signed_in(make_staff(PlatformRole.OPS))
    assert client.get("/api/v1/console/queue/").json()["standstill"] is None
    with refusing_each_other():
        run_pass(platform())
        a_minute_ago()
    told = client.get("/api/v1/console/queue/").json()["standstill"]
    assert set(told["workloads"]) == {str(workload.pk) for workload in promised}
    page = client.get("/console/queue/", headers={"accept-language": "en"}).content.decode()
    assert "The queue stands still" in page
    assert "2 workloads have waited beside free room" in page
