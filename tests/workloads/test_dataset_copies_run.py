"""Runs read their dataset from the copy of a machine that joined, and fail with a word where it is damaged."""

import pytest

from apps.billing.models import Hold, MeterSession
from apps.clusters import dataset_caches
from apps.clusters.models import Node
from apps.common.scoping import acting
from apps.workloads.choices import Reason, Status
from apps.workloads.dataset_copies import coming_copy
from apps.workloads.drivers.local.dataset_cache import DatasetCache
from apps.workloads.faults import advise
from apps.workloads.models import Attempt
from apps.workloads.nodes import data_root
from tests.builders import World, platform, reload
from tests.drivers.agents import Agent
from tests.storage.test_mounts import make_version
from tests.workloads.test_dataset_copies import has, keeps, waiting
from tests.workloads.test_lost_agents import agent as agent
from tests.workloads.test_lost_agents import turn_until
from tests.workloads.test_lost_agents import world as world

READS = "import sys; print(open('/datasets/digits/data.csv').read(), end='')"
pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("home")]


def placed_on(agent: Agent) -> Node:
    node: Node = Node.objects.get(pk=agent.node_id)
    keeps(node)
    return node


@pytest.mark.programs
def test_a_run_reads_its_dataset_from_the_machines_copy(world: World, agent: Agent) -> None:
    version = make_version(world)
    node = placed_on(agent)
    workload = waiting(world, version, argv=("python", "-c", READS))
    turn_until(workload, lambda: not reload(workload).is_live)
    assert workload.status == Status.SUCCEEDED, (workload.reason, workload.reason_data)
    cache = DatasetCache(agent.home)
    told = dataset_caches.reported(cache.report())
    assert (told["entries"], told["count"], told["used_bytes"]) == (has(version), 1, 4)
    Node.objects.filter(pk=node.pk).update(dataset_cache=told)
    later = waiting(world, version, argv=("python", "-c", READS))
    with acting(platform()):
        node.refresh_from_db()
        assert coming_copy(later, Attempt(workload=later, node=node, number=1)) is None
    (data_root() / version.relative_path / "data.csv").unlink()  # whoever reads it now has the copy
    turn_until(later, lambda: not reload(later).is_live)
    assert later.status == Status.SUCCEEDED


@pytest.mark.programs
def test_damage_fails_the_run_with_a_word_and_costs_nothing(world: World, agent: Agent) -> None:
    version = make_version(world)
    placed_on(agent)
    file = data_root() / version.relative_path / "data.csv"
    file.unlink()
    file.write_text("9,9\n")
    workload = waiting(world, version, argv=("python", "-c", READS))
    turn_until(workload, lambda: not reload(workload).is_live)
    assert (workload.status, workload.reason) == (Status.FAILED, Reason.MOUNT_FAILED)
    advice = advise(workload)
    assert advice.text.startswith("Dataset digits v1 is damaged: data.csv is not what was stored.")
    assert not Hold.objects.filter(workload_id=workload.pk, end__isnull=True).exists()
    assert not MeterSession.objects.filter(workload_id=workload.pk).exists()
    assert DatasetCache(agent.home).report()["count"] == 0
