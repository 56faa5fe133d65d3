"""Logical clusters and lists of models as conditions, and requests that make no sense."""

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest

from apps.clusters.models import Accelerator, LogicalCluster, Node, Zone
from apps.common.errors import Invalid
from apps.common.scoping import acting
from apps.workloads.choices import Status
from apps.workloads.models import Attempt, Workload
from apps.workloads.reconcile.schedule import run_pass
from apps.workloads.spec import Gpu, Spec
from tests.builders import World, make_node, make_world, platform, reload, submit_workload, unknown_id


@pytest.fixture
def world(db: None) -> Iterator[World]:
    with acting(platform()):
        yield make_world()


@pytest.fixture
def vision(world: World) -> Node:
    """A machine of a cluster of its own in the same zone, with one L40S."""
    cluster = LogicalCluster.objects.create(zone=Zone.objects.get(name="local"), name="vision")
    node = make_node(cpu_milli=2000)
    Node.objects.filter(pk=node.pk).update(cluster=cluster)
    node.refresh_from_db()
    Accelerator.objects.create(node=node, uuid="GPU-1", index=0, vendor="nvidia", model="L40S", memory_mib=49152)
    return node


def submit(world: World, **changes: Any) -> Workload:
    with acting(world.actor):
        return submit_workload(world, **changes)


def placed_on(workload: Workload) -> Node:
    return Attempt.objects.get(workload=workload).node


def test_work_runs_in_the_cluster_that_it_names(world: World, vision: Node) -> None:
    runs = [submit(world, cluster=str(vision.cluster_id)) for _ in range(3)]
    run_pass(platform())
    statuses = [reload(run).status for run in runs]
    assert statuses == [Status.PLACED, Status.PLACED, Status.QUEUED], "two cores in that cluster, four beside it"
    assert {placed_on(run) for run in runs[:2]} == {vision}


def test_any_model_of_a_list_will_do(world: World, vision: Node) -> None:
    gpu = Gpu(mode="whole", any_of=("H100", "L40S"))
    fits = submit(world, gpu=gpu)
    other = submit(world, gpu=replace(gpu, any_of=("H100", "A100")))
    run_pass(platform())
    assert placed_on(fits) == vision
    assert (reload(other).status, other.explanation["cause"]) == (Status.QUEUED, "no_such_model")


@pytest.mark.parametrize(
    ("changes", "field"),
    [
        ({"gpu": Gpu(mode="whole", count=0)}, "gpu.count"),
        ({"gpu": Gpu(mode="vgpu", core_milli=0)}, "gpu.core_milli"),
        ({"gpu": Gpu(mode="mig")}, "gpu.profile"),
        ({"gpu": Gpu(mode="whole", model="A100", any_of=("H100",))}, "gpu.model"),
        ({"cluster": "nowhere"}, "cluster"),
        ({"cluster": str(unknown_id())}, "cluster"),
    ],
)
def test_what_contradicts_itself_is_refused_and_leaves_nothing(
    world: World, changes: dict[str, Any], field: str
) -> None:
    with pytest.raises(Invalid) as refused:
        submit(world, **changes)
    assert list(refused.value.fields or {}) == [field]
    assert not Workload.objects.exists()


def test_a_cluster_of_the_other_world_is_refused(world: World) -> None:
    zone = Zone.objects.create(name="made up", simulated=True)
    cluster = LogicalCluster.objects.create(zone=zone, name="default")
    with pytest.raises(Invalid, match="simulated"):
        submit(world, cluster=str(cluster.pk))


def test_a_request_that_can_never_start_does_not_hold_up_those_behind_it(world: World) -> None:
    never = submit(world, gpu=Gpu(mode="whole", count=64, model="H100"))
    behind = submit(world)
    run_pass(platform())
    assert (reload(never).status, never.explanation["cause"]) == (Status.QUEUED, "no_such_model")
    assert reload(behind).status == Status.PLACED


def test_specs_of_before_there_were_lists_and_clusters_are_read(world: World) -> None:
    spec = submit(world, gpu=Gpu(mode="whole")).frozen_spec
    data = spec.as_json()
    del data["cluster"], data["gpu"]["any_of"]
    assert Spec.from_json(data) == spec
