"""An environment that waits goes on with a package on which it starts, in one step."""

import pytest
from django.urls import reverse

from apps.billing.models import Package
from apps.clusters.models import Node
from apps.common.errors import Conflict
from apps.common.scoping import acting
from apps.envs.models import Environment
from apps.envs.services import switching
from apps.workloads.choices import Reason, Status
from apps.workloads.models import Workload
from tests.builders import World, actor_of, make_member, make_organisation, platform, signed_in, top_up
from tests.envs.kit import again, make
from tests.workloads.cards import make_gpu_node, make_gpu_package, scheduled, submit_on


@pytest.fixture
def waiting(world: World) -> Environment:
    """It asks for the H200 that another organisation holds; an L40S is idle."""
    with acting(platform()):
        top_up(world.organisation, 1_000_000)
        Node.objects.all().delete()
        make_gpu_node(cards=1, model="H200")
        make_gpu_node(cards=1, model="L40S", name="gpu-b01")
        rivals = make_organisation()
        top_up(rivals, 1_000_000)
        scheduled(submit_on(actor_of(make_member(rivals, "charlie"), rivals), make_gpu_package(1), "theirs"))
        environment = make(world, package_id=make_gpu_package(1, rate_fen=2000).pk)
        assert environment.workload is not None
        assert scheduled(environment.workload).status == Status.QUEUED
    return again(environment)


@pytest.fixture
def other(waiting: Environment) -> Package:
    with acting(platform()):
        return make_gpu_package(1, model="L40S", rate_fen=1200)


def test_its_package_changes_and_it_starts(world: World, waiting: Environment, other: Package) -> None:
    with acting(world.actor):
        switching.start_instead(world.actor, waiting, package_id=other.pk)
        switching.start_instead(world.actor, again(waiting), package_id=other.pk)  # pressed twice
    now = again(waiting)
    assert now.workload is not None
    assert (now.package_id, now.workload.package_id, now.starts) == (other.pk, other.pk, waiting.starts + 1)
    assert scheduled(now.workload).status == Status.PLACED
    assert waiting.workload is not None
    with acting(platform()):
        before = Workload.objects.get(pk=waiting.workload.pk)
    assert (before.status, before.reason) == (Status.STOPPED, Reason.CHANGED)


def test_a_package_that_would_not_start_changes_nothing(world: World, waiting: Environment) -> None:
    with acting(platform()):
        taken = make_gpu_package(1)
    with acting(world.actor), pytest.raises(Conflict):
        switching.start_instead(world.actor, waiting, package_id=taken.pk)
    now = again(waiting)
    assert (now.package_id, now.workload_id) == (waiting.package_id, waiting.workload_id)


def test_one_click_on_the_page_does_it(world: World, waiting: Environment, other: Package) -> None:
    client = signed_in(world.alice)
    page = client.get(reverse("envs:detail", args=[waiting.pk])).content.decode()
    assert "Switch and start" in page
    assert "theirs" not in page
    client.post(reverse("envs:act", args=[waiting.pk, "instead"]), {"package": other.pk})
    assert again(waiting).package_id == other.pk


def test_the_api_does_it_too(world: World, waiting: Environment, other: Package) -> None:
    url = f"/api/v1/workloads/{waiting.workload_id}/alternatives/{other.pk}/start/"
    answer = signed_in(world.alice).post(url)
    assert (answer.status_code, answer.json()["kind"]) == (201, "environment")
    assert again(waiting).package_id == other.pk
