"""What an environment's newest start used at most, on its page, in the API and in its settings."""

from dataclasses import replace
from uuid import uuid4

from django.test import Client

from apps.common.scoping import acting
from apps.envs.models import Environment
from apps.workloads.models import Attempt
from tests.builders import World, make_package, platform
from tests.envs import kit


def worked(world: World) -> Environment:
    """It has been running for an hour on two cores, and has used a tenth of them."""
    with acting(platform()):
        large = make_package(rate_fen=400, cpu_milli=2000, memory_mib=4096)
    environment = kit.running(kit.make(replace(world, package=large)))
    assert environment.workload is not None
    with acting(platform()):
        Attempt.objects.create(
            id=uuid4(), organisation=world.organisation, workload=environment.workload, number=1, node=world.node,
            ran_for_s=3600, peak_cpu_milli=200, peak_memory_mib=300,
        )  # fmt: skip
    return environment


def test_the_page_and_the_api_say_what_less_would_have_done(alice: Client, charlie: Client, world: World) -> None:
    environment = worked(world)
    page = kit.text(alice.get(f"/environments/{environment.pk}/"))
    assert "What it used at most so far" in page
    assert f"{world.package.name_en} would have done" in page
    path = f"/api/v1/environments/{environment.pk}/fit/"
    told = alice.get(path).json()
    assert [each["name_en"] for each in told["smaller"]] == [world.package.name_en]
    assert charlie.get(path).status_code == 404


def test_its_settings_say_what_does_not_fit(alice: Client, world: World) -> None:
    with acting(platform()):
        tiny = make_package(memory_mib=256)
    environment = worked(world)
    page = kit.text(alice.get(f"/environments/{environment.pk}/", {"tab": "settings"}))
    assert tiny.name_en in page
    assert "Last time it used 300 MiB of memory: does not fit." in page


def test_one_that_was_never_started_has_none(alice: Client, world: World) -> None:
    environment = kit.make(world, start=False)
    assert alice.get(f"/api/v1/environments/{environment.pk}/fit/").status_code == 404
