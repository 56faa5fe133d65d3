"""A run whose machine cannot be asked: said so wherever its log or its use is wanted, never called a lack of rights."""

from typing import Any
from uuid import uuid4

import pytest
from asgiref.sync import async_to_sync

from apps.common.clock import db_now
from apps.common.scoping import acting
from apps.envs.reconcile import idle
from apps.tenants.sockets import CloseCode
from apps.training.models import Run
from apps.workloads.models import Attempt
from tests.builders import World, make_node, make_staff, make_world, platform, signed_in
from tests.sockets import browser_of, closed_with, opened
from tests.training.kit import submit

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def world() -> World:
    with acting(platform()):
        return make_world()


@pytest.fixture
def run(world: World) -> Run:
    """It ran on a machine that nobody answers for."""
    run = submit(world)
    with acting(platform()):
        node = make_node(name="gone")
        node.driver = "remote"
        node.save(update_fields=["driver"])
        handle = {"driver": "remote", "node": "gone", "ref": str(uuid4())}
        Attempt.objects.create(
            organisation=world.organisation,
            workload=run.workload,
            number=1,
            node=node,
            handle=handle,
            started_at=db_now(),
        )
    return run


def addresses(run: Run) -> list[str]:
    api = f"/api/v1/training/runs/{run.pk}/"
    return [f"{api}log/", f"{api}metrics/cpu/", f"/training/{run.pk}/log/"]


def test_the_owner_is_told_that_the_machine_is_away(world: World, run: Run) -> None:
    browser = signed_in(world.alice)
    for address in addresses(run):
        answer = browser.get(address)
        assert answer.status_code == 503, address
        assert "machine cannot be reached" in answer.content.decode(), address
        assert answer.headers["Retry-After"], address
    assert browser.get(f"/training/{run.pk}/").status_code == 200, "the page itself does not need it"


def test_so_is_an_operator(run: Run) -> None:
    with acting(platform()):
        staff = make_staff()
    answer = signed_in(staff).get(f"/console/workloads/{run.workload_id}/log/")
    assert answer.status_code == 503
    assert "machine cannot be reached" in answer.content.decode()


def test_a_followed_log_ends_for_now_and_not_for_want_of_a_right(world: World, run: Run) -> None:
    async def follow() -> int:
        return await closed_with(await opened(await browser_of(world.alice), f"/ws/logs/{run.workload_id}/"))

    assert async_to_sync(follow)() == CloseCode.OUT_OF_SIGHT


def test_what_cannot_be_measured_is_no_error_of_the_idle_rule(run: Run) -> None:
    with acting(platform()):
        attempt = Attempt.objects.get(workload=run.workload)
        task: Any = type("Task", (), {"attempt": attempt, "since_s": 0.0})
        assert idle._usage(task) == []
