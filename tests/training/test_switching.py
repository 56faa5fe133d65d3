"""From waiting to starting on another package: all in one step, or it waits on in its place."""

from collections.abc import Iterator
from uuid import uuid4

import pytest
from django.urls import reverse

from apps.billing import selectors as funds
from apps.billing.models import Package
from apps.clusters.models import Node
from apps.common.errors import Conflict, InsufficientFunds, QuotaExceeded
from apps.common.scoping import acting
from apps.tenants import quotas
from apps.tenants.choices import Resource
from apps.training import switching
from apps.training.models import Run
from apps.workloads.choices import Reason, Status
from apps.workloads.models import Workload
from tests.builders import World, actor_of, make_member, make_organisation, platform, signed_in, top_up
from tests.training.kit import submit, text
from tests.workloads.cards import make_gpu_node, make_gpu_package, scheduled, submit_on

SECRET = "project-nightingale"


@pytest.fixture
def lab(world: World) -> Iterator[World]:
    """One H200 that another organisation holds, and an idle L40S."""
    with acting(platform()):
        top_up(world.organisation, 1_000_000)
        Node.objects.all().delete()
        make_gpu_node(cards=1, model="H200")
        make_gpu_node(cards=1, model="L40S", name="gpu-b01")
        rivals = make_organisation(name="Rival Institute")
        top_up(rivals, 1_000_000)
        scheduled(submit_on(actor_of(make_member(rivals, "charlie"), rivals), make_gpu_package(1), SECRET))
        yield world


@pytest.fixture
def waiting(lab: World) -> Run:
    run = submit(lab, package_id=make_gpu_package(1, rate_fen=2000).pk)
    scheduled(run.workload)
    return again(run)


@pytest.fixture
def other(lab: World) -> Package:
    return make_gpu_package(1, model="L40S", rate_fen=1200)


def again(run: Run) -> Run:
    with acting(platform()):
        return Run.objects.select_related("workload", "code").get(pk=run.pk)


def switch(lab: World, run: Run, package: Package, key: str = "") -> Run:
    with acting(lab.actor):
        return switching.start_instead(lab.actor, run, package_id=package.pk, key=key or uuid4().hex)


def test_the_next_version_starts_and_the_waiting_one_is_cancelled(lab: World, waiting: Run, other: Package) -> None:
    started = switch(lab, waiting, other)
    before = again(waiting).workload
    assert (before.status, before.reason) == (Status.STOPPED, Reason.CHANGED)
    assert (started.version, started.parent_id, started.workload.package_id) == (2, waiting.pk, other.pk)
    assert scheduled(started.workload).status == Status.PLACED
    assert started.workload.queued_at == before.queued_at
    with acting(lab.actor):
        assert funds.quote(lab.actor, package_id=other.pk).held_fen == 1200


def test_the_same_key_again_is_the_run_made_first(lab: World, waiting: Run, other: Package) -> None:
    first, second = switch(lab, waiting, other, "once"), switch(lab, again(waiting), other, "once")
    assert first.pk == second.pk
    assert Run.objects.filter(family=waiting.family).count() == 2


def refused(lab: World, waiting: Run, package: Package, error: type[Exception]) -> None:
    before = Workload.objects.filter(pk=waiting.workload_id).values().get()
    with pytest.raises(error):
        switch(lab, waiting, package)
    assert Workload.objects.filter(pk=waiting.workload_id).values().get() == before
    assert Run.objects.filter(family=waiting.family).count() == 1


def test_a_package_that_would_not_start_costs_no_place(lab: World, waiting: Run) -> None:
    refused(lab, waiting, make_gpu_package(1), Conflict)


def test_too_little_money_costs_no_place(lab: World, waiting: Run) -> None:
    refused(lab, waiting, make_gpu_package(1, model="L40S", rate_fen=90_000_000), InsufficientFunds)


def test_too_little_quota_costs_no_place(lab: World, waiting: Run, other: Package) -> None:
    whose = lab.organisation.pk
    quotas.set_limit(platform(), organisation_id=whose, resource=Resource.GPU_MILLI, model="L40S", limit=500)
    refused(lab, waiting, other, QuotaExceeded)


def test_what_has_started_is_not_switched(lab: World, waiting: Run, other: Package) -> None:
    make_gpu_node(cards=1, model="H200", name="gpu-a02")
    scheduled(waiting.workload)
    with pytest.raises(Conflict):
        switch(lab, again(waiting), other)
    assert again(waiting).workload.status == Status.PLACED


def test_one_click_on_the_page_does_it(lab: World, waiting: Run, other: Package) -> None:
    client = signed_in(lab.alice)
    page = text(client.get(reverse("training:detail", args=[waiting.pk])))
    action = reverse("training:instead", args=[waiting.pk])
    assert action in page
    assert f'name="package" value="{other.pk}"' in page
    answer = client.post(action, {"package": other.pk, "key": "click"})
    started = Run.objects.get(family=waiting.family, version=2)
    assert answer["Location"] == reverse("training:detail", args=[started.pk])


def test_page_and_api_tell_nothing_of_the_tenant_that_holds_the_card(lab: World, waiting: Run, other: Package) -> None:
    theirs = Workload.objects.select_related("owner").get(name=SECRET)
    client = signed_in(lab.alice)
    explained = client.get(f"/api/v1/workloads/{waiting.workload_id}/explanation/")
    assert explained.status_code == 200
    pages = [
        client.get(reverse("training:detail", args=[waiting.pk])),
        client.get(reverse("training:part", args=[waiting.pk, "now"])),
        client.get(f"/api/v1/training/runs/{waiting.pk}/"),
        client.get(f"/api/v1/training/runs/{waiting.pk}/events/"),
        explained,
    ]
    secrets = (SECRET, "Rival", str(theirs.pk), str(theirs.organisation_id), theirs.owner.username)
    for page in pages:
        assert page.status_code in (200, 286)
        for secret in secrets:
            assert secret.encode() not in page.content


def test_the_api_explains_and_switches(lab: World, waiting: Run, other: Package) -> None:
    client = signed_in(lab.alice)
    told = client.get(f"/api/v1/workloads/{waiting.workload_id}/explanation/").json()
    assert (told["cause"], told["node"], told["short"]) == ("devices", "gpu-a01", "1 × H200")
    assert (told["place"], told["waiting"]) == (1, 1)
    assert [(row["name"], row["tasks"], row["cards"]) for row in told["holders"]] == [("", 1, 1.0)]
    assert [row["package"] for row in told["alternatives"]] == [other.pk]
    assert told["funnel"][0]["name"] == "nodes"
    start = f"/api/v1/workloads/{waiting.workload_id}/alternatives/{other.pk}/start/"
    answer = client.post(start)
    assert (answer.status_code, answer.json()["package"]) == (201, other.pk)
    assert client.post(start).status_code == 409
    assert client.get(f"/api/v1/workloads/{waiting.workload_id}/explanation/").status_code == 409


def test_strangers_find_neither(lab: World, waiting: Run, other: Package) -> None:
    stranger = signed_in(make_member(Workload.objects.get(name=SECRET).organisation, "dora"))
    url = f"/api/v1/workloads/{waiting.workload_id}/"
    assert stranger.get(f"{url}explanation/").status_code == 404
    assert stranger.post(f"{url}alternatives/{other.pk}/start/").status_code == 404
    assert again(waiting).workload.status == Status.QUEUED
