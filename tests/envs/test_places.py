"""Where an environment may start: its logical cluster, and other packages that would do."""

from uuid import uuid4

import pytest

from apps.billing.models import Package
from apps.clusters import services as clusters
from apps.clusters.models import LogicalCluster
from apps.common.errors import Conflict, Invalid
from apps.common.scoping import acting
from apps.envs.models import Environment
from apps.envs.services import running
from apps.envs.services.changing import Change, change
from tests.builders import World, platform, signed_in
from tests.envs import kit
from tests.workloads.cards import make_gpu_node, make_gpu_package

API = "/api/v1/environments/"


@pytest.fixture
def reserve(world: World) -> LogicalCluster:
    """A second cluster, beside the one that has the world's node; it has none."""
    with acting(platform()):
        made: LogicalCluster = LogicalCluster.objects.create(zone=world.node.cluster.zone, name="reserve")
    return made


@pytest.fixture
def cards(world: World) -> tuple[Package, Package]:
    with acting(platform()):
        for number, model in enumerate(("A100", "H100")):
            make_gpu_node(cards=1, model=model, name=f"gpu-{number}")
        return make_gpu_package(model="A100", rate_fen=1000), make_gpu_package(model="H100", rate_fen=3000)


def test_a_start_runs_in_the_cluster_that_the_environment_names(world: World, reserve: LogicalCluster) -> None:
    made = kit.make(world, cluster_id=reserve.pk)
    assert made.workload is not None
    assert made.workload.frozen_spec.cluster == str(reserve.pk)
    with acting(world.actor), pytest.raises(Conflict, match="restart"):
        change(world.actor, kit.again(made), Change(cluster_id=None))
    with pytest.raises(Invalid) as refused:
        kit.make(world, cluster_id=uuid4())
    assert "cluster" in refused.value.fields


def test_form_and_api_take_both(world: World, reserve: LogicalCluster, cards: tuple[Package, Package]) -> None:
    client, (first, second) = signed_in(world.alice), cards
    page = client.get("/environments/new/").content.decode()
    assert "Logical cluster" in page
    quote = client.post("/environments/quote/", kit.form_for(world, package=first.pk, also=[second.pk]))
    assert "¥10.00–30.00" in quote.content.decode()
    posted = kit.form_for(world, package=first.pk, also=[second.pk], cluster=str(reserve.pk))
    assert client.post("/environments/new/", posted).status_code == 302
    with acting(platform()):
        made = Environment.objects.latest("created_at")
        assert (made.cluster_id, made.also_packages) == (reserve.pk, [second.pk])
        assert made.workload is not None
        assert made.workload.frozen_spec.gpu is not None
        assert made.workload.frozen_spec.gpu.any_of == ("A100", "H100")
    shown = client.get(f"{API}{made.pk}/").json()
    assert (shown["cluster"], shown["also"]) == (str(reserve.pk), [second.pk])
    changed = client.patch(f"{API}{made.pk}/", {"also": [], "restart": True}, content_type="application/json")
    assert (changed.status_code, changed.json()["also"]) == (200, [])
    refused = client.patch(f"{API}{made.pk}/", {"also": [world.package.pk]}, content_type="application/json")
    assert refused.status_code == 400


def test_what_is_withdrawn_is_left_out_of_the_next_start(world: World, cards: tuple[Package, Package]) -> None:
    first, second = cards
    made = kit.make(world, package_id=first.pk, also_ids=(second.pk,), start=False)
    Package.objects.filter(pk=second.pk).update(active=False)
    with acting(world.actor):
        started = running.start(world.actor, made)
    assert started.workload is not None
    assert started.workload.frozen_spec.options == ()


def test_an_environment_whose_cluster_was_taken_back_starts_no_more(world: World, reserve: LogicalCluster) -> None:
    """It stays as it is, and its next start is refused until another cluster is chosen."""
    with acting(platform()):
        clusters.reserve_cluster(platform(), cluster_id=reserve.pk, reserved=True)
        clusters.give_cluster(platform(), cluster_id=reserve.pk, organisation_id=world.organisation.pk)
    made = kit.make(world, cluster_id=reserve.pk, start=False)
    with acting(platform()):
        clusters.withdraw_cluster(platform(), cluster_id=reserve.pk, organisation_id=world.organisation.pk)
    with acting(world.actor):
        with pytest.raises(Invalid, match="no such logical cluster"):
            running.start(world.actor, made)
        change(world.actor, kit.again(made), Change(cluster_id=None))
        assert running.start(world.actor, kit.again(made)).workload is not None


def test_its_page_says_why_it_does_not_start(world: World, reserve: LogicalCluster) -> None:
    with acting(platform()):
        clusters.reserve_cluster(platform(), cluster_id=reserve.pk, reserved=True)
        clusters.give_cluster(platform(), cluster_id=reserve.pk, organisation_id=world.organisation.pk)
    made = kit.make(world, cluster_id=reserve.pk, start=False)
    with acting(platform()):
        clusters.withdraw_cluster(platform(), cluster_id=reserve.pk, organisation_id=world.organisation.pk)
    response = signed_in(world.alice).post(f"/environments/{made.pk}/do/start/", follow=True)
    assert "no such logical cluster" in response.content.decode()
