"""What the page of a run says of failures, versions, simulated hardware and its machine."""

from collections.abc import Iterator
from typing import Any

import pytest
from django.test import Client

from apps.billing.models import Package
from apps.clusters import services as clusters
from apps.common.scoping import acting
from apps.training.models import Run
from apps.training.services import rerun
from apps.workloads import nodes
from apps.workloads import services as workloads
from apps.workloads.choices import Fault, Reason, Status
from apps.workloads.models import Workload
from tests.builders import World, make_package, platform
from tests.training.kit import submit, text, url
from tests.workloads.loops import tick, until

RAISES = "raise ValueError('matmul: shapes do not match')\n"


def fail(run: Run, reason: Reason, **data: Any) -> Run:
    with acting(platform()):
        Workload.objects.filter(pk=run.workload_id).update(
            status=Status.FAILED,
            reason=reason,
            reason_data=data,
            fault=Fault.USER,
            started_at="2026-01-01T00:00Z",
            ended_at="2026-01-01T00:01Z",
        )
    return run


@pytest.mark.programs
def test_an_exception_is_the_title_on_the_page_in_the_list_and_in_the_api(world: World, alice: Client) -> None:
    run = submit(world, text=RAISES)
    with acting(platform()):
        until(run.workload, lambda found: found.status == Status.FAILED)
    page = text(alice.get(url("detail", run)))
    assert "Failed: ValueError: matmul: shapes do not match</h2>" in page
    assert "ended with exit code 1" in page
    assert "Failed: ValueError: matmul: shapes do not match" in text(alice.get("/training/"))
    assert "matmul" in alice.get(f"/api/v1/training/runs/{run.pk}/").json()["failure"]


def test_what_wrote_no_traceback_is_told_by_its_exit_code(world: World, alice: Client) -> None:
    run = fail(submit(world), Reason.EXIT_CODE, code=3, detail="no such file")
    assert "the program ended with exit code 3" in text(alice.get(url("detail", run)))


def test_out_of_memory_offers_the_next_larger_package(world: World, alice: Client) -> None:
    with acting(platform()):
        make_package(900, memory_mib=4096)
        next_one = make_package(720, memory_mib=1024)
        make_package(100, memory_mib=1024, cpu_milli=500)
        make_package(100, memory_mib=256)
    run = fail(submit(world), Reason.OUT_OF_MEMORY)
    page = text(alice.get(url("detail", run)))
    address = f"/training/new/?from={run.pk}&amp;package={next_one.pk}"
    assert f'href="{address}"' in page
    assert "(1 GiB)" in page
    form = alice.get(address.replace("&amp;", "&")).context["form"]
    assert str(form["package"].value()) == str(next_one.pk)


def test_where_nothing_is_larger_there_is_only_advice(world: World, alice: Client) -> None:
    run = fail(submit(world), Reason.OUT_OF_MEMORY)
    page = text(alice.get(url("detail", run)))
    assert "Choose a package with more memory." in page
    assert "Clone with" not in page


def test_the_panel_of_versions_follows_those_that_live(world: World, alice: Client) -> None:
    first = fail(submit(world), Reason.EXIT_CODE, code=1)
    with acting(world.actor):
        second = rerun(world.actor, Run.objects.select_related("workload").get(pk=first.pk), key="again")
    page = text(alice.get(url("detail", first)))
    assert f'data-live="workload.{second.workload_id} "' in page
    assert f'hx-get="{url("part", first, "versions")}"' in page
    assert "Queued" in text(alice.get(url("part", first, "versions")))
    fail(second, Reason.EXIT_CODE, code=1)
    after = text(alice.get(url("part", first, "versions")))
    assert after.count("Failed") == 2
    assert 'data-live=""' in after


def test_nobody_else_sees_the_panel(world: World, bob: Client, charlie: Client) -> None:
    run = submit(world)
    for outsider in (bob, charlie):
        assert outsider.get(url("part", run, "versions")).status_code == 404


@pytest.fixture
def simulated(world: World) -> Iterator[Run]:
    """A run on simulated hardware."""
    nodes.simulated_driver.cache_clear()
    with acting(platform()):
        zone = clusters.add_simulated_zone(platform(), isolation="L1", isolation_reason="")
        clusters.offer_packages(platform(), zone_id=zone.pk)
        package = Package.objects.get(name_en="H100 whole card (simulated)")
    yield submit(world, package_id=package.pk, text="import time; time.sleep(30)")
    nodes.simulated_driver.cache_clear()


@pytest.mark.programs
def test_a_simulated_run_is_free_and_does_not_say_that_it_is_charged(simulated: Run, alice: Client) -> None:
    with acting(platform()):
        until(simulated.workload, lambda found: found.status == Status.RUNNING)
        page = text(alice.get(url("detail", simulated)))
        workloads.stop(platform(), simulated.workload)
        until(simulated.workload, lambda found: found.status == Status.STOPPED)
    assert "Simulated hardware: nothing is charged" in page
    assert "Charging<" not in page
    assert "— ×" not in page
    assert "data-cost" not in page


@pytest.mark.programs
def test_a_real_run_says_that_it_is_charged(world: World, alice: Client) -> None:
    run = submit(world, text="import time; time.sleep(30)")
    with acting(platform()):
        until(run.workload, lambda found: found.status == Status.RUNNING)
        page = text(alice.get(url("detail", run)))
        workloads.stop(platform(), run.workload)
        until(run.workload, lambda found: found.status == Status.STOPPED)
    assert "Charging<" in page


@pytest.mark.programs
def test_a_machine_is_called_isolated_or_not(world: World, alice: Client) -> None:
    run = submit(world)
    with acting(platform()):
        tick()
    page = text(alice.get(url("detail", run)))
    assert f"{world.node.name} · isolated" in page
    assert "· L1" not in page
