"""Where work goes on a cluster, and which cards it is given there."""

from dataclasses import replace
from uuid import uuid4

import pytest

from apps.workloads.drivers.base import DeviceGrant, Gang
from apps.workloads.drivers.kubernetes.cluster import Cluster, Place
from apps.workloads.drivers.kubernetes.driver import KubernetesDriver
from tests.drivers.contract_gangs import CALL, SERVE, at_barrier
from tests.kube.conftest import UID, named
from tests.kube.kit import KubeKit

pytestmark = pytest.mark.kube
SEES = "import os; print(os.environ.get('NVIDIA_VISIBLE_DEVICES', ''))"


@pytest.fixture
def there(cluster: Cluster, kit: KubeKit) -> KubeKit:
    """A kit whose requests go to the node that they name."""
    kit.driver = KubernetesDriver(lambda node: Place(cluster, node), lambda _tenant: UID)
    return kit


def test_each_goes_to_the_node_that_was_chosen(cluster: Cluster, there: KubeKit) -> None:
    for node in named(cluster.core.list_node().items):
        handle = there.launch(there.python("print('here')", node=node))
        pod = there.driver._pods.find(cluster, handle.ref)
        assert there.wait_exit(handle).succeeded
        assert pod is not None
        assert pod.node in (node, "")  # the cluster writes it down a moment later


def test_members_on_two_nodes_reach_each_other_by_address_and_by_name(cluster: Cluster, there: KubeKit) -> None:
    nodes = tuple(sorted(named(cluster.core.list_node().items))[:2])
    if len(nodes) < 2:
        pytest.skip("the cluster has one node")
    group = uuid4()
    by_name = CALL.replace("address = {", "address = 'm0' or {")
    handles = [
        there.launch(there.python(source, node=nodes[rank], gang=Gang(group, rank, nodes)))
        for rank, source in enumerate((SERVE, by_name))
    ]
    at_barrier(there, handles)
    for handle in handles:
        there.driver.release(handle)
    assert [there.wait_exit(handle).succeeded for handle in handles] == [True, True], there.text(handles[1])
    assert there.text(handles[0]) == "heard rank 1\n"


def test_the_very_card_is_given_where_the_cluster_gives_them_one_by_one(
    cluster: Cluster, kit: KubeKit, node: str
) -> None:
    claiming = replace(cluster, dra=True)
    driver = KubernetesDriver(lambda _node: Place(claiming, node), lambda _tenant: UID)
    if not driver.inspect(claiming).claims_cards:
        pytest.skip("the cluster gives cards by their number")
    [found] = [each for each in driver.nodes_of(claiming) if each.machine.name == node]
    kit.driver = driver
    for card in (found.machine.cards[5], found.machine.cards[2]):
        grant = DeviceGrant(card.uuid, card.index, card.vendor, card.model, card.memory_mib, 100, "whole")
        ended, text = kit.run(kit.python(SEES, devices=(grant,)))
        assert ended.succeeded, text
        assert text.strip() == card.uuid
