"""The owner of a run is told how it ended, once."""

import pytest

from apps.common.clock import db_now
from apps.common.scoping import acting
from apps.envs.choices import KIND as ENVIRONMENT
from apps.notifications.models import Delivery, Notice
from apps.training.choices import KIND as TRAINING
from apps.workloads import announce
from apps.workloads.choices import Kind, Status
from apps.workloads.models import Workload
from tests.builders import World, make_world, platform, signed_in, submit_workload

pytestmark = pytest.mark.django_db


@pytest.fixture
def world() -> World:
    with acting(platform()):
        return make_world()


def ended(world: World, status: Status, kind: Kind = TRAINING) -> Workload:
    """A workload as `states` leaves it, announced as it does."""
    with acting(platform()) as actor:
        workload = submit_workload(world)
        Workload.objects.filter(pk=workload.pk).update(status=status, kind=kind, ended_at=db_now())
        workload.refresh_from_db()
        for _each in range(2):
            announce.status_changed(actor, workload, Status.RUNNING)
    return workload


def told(world: World) -> list[str]:
    with acting(platform()):
        return list(Notice.objects.filter(user=world.alice).values_list("kind", flat=True))


@pytest.mark.parametrize(("status", "kind"), [(Status.SUCCEEDED, "run.finished"), (Status.FAILED, "run.failed")])
def test_the_owner_is_told_once_by_page_and_mail(world: World, status: Status, kind: str) -> None:
    ended(world, status)
    assert told(world) == [kind]
    with acting(platform()):
        assert Delivery.objects.filter(user=world.alice, kind=kind).count() == 1


def test_what_one_stops_oneself_is_no_news(world: World) -> None:
    ended(world, Status.STOPPED)
    ended(world, Status.FAILED, ENVIRONMENT)
    assert told(world) == []


def test_the_link_needs_a_run_that_one_may_see(world: World) -> None:
    workload = ended(world, Status.FAILED)  # a workload without a run of its own
    assert signed_in(world.alice).get(f"/training/of-workload/{workload.pk}/").status_code == 404
