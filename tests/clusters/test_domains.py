"""The labels row, rack and switch of nodes say which are near to each other."""

import pytest

from apps.clusters.domains import domains
from apps.clusters.models import Node, Zone
from apps.common.clock import db_now
from apps.common.scoping import acting
from apps.workloads.drivers.overlay import Ability, Kind
from apps.workloads.reconcile import snapshot, topology_version
from scheduler import Gang, Snapshot, Task, plan
from tests.builders import make_node, platform

JOINED = Ability(frozenset({Kind.VXLAN}), "198.18.0.7")


@pytest.mark.parametrize(
    ("labels", "expected"),
    [
        ({}, ()),
        ({"owner": "vision", "row": "1"}, ("1",)),
        ({"row": "1", "rack": "7", "switch": "leaf-3"}, ("1", "7", "leaf-3")),
        ({"switch": "leaf-3"}, ("", "", "leaf-3")),
        ({"rack": "7", "switch": ""}, ("", "7")),
    ],
)
def test_domains_are_the_labels_down_to_the_narrowest(labels: dict[str, str], expected: tuple[str, ...]) -> None:
    assert domains(labels) == expected


@pytest.mark.django_db
def test_members_go_to_one_switch_and_a_new_label_counts_at_once() -> None:
    with acting(platform()):
        Node.objects.all().delete()
        made = [make_node(name=name, cpu_milli=2000, memory_mib=8192) for name in ("a", "b", "c")]
        Zone.objects.update(trusted_network=True)
        before = topology_version.digest(db_now(), False)
        for node, switch in zip(sorted(made, key=lambda node: node.pk), ("leaf-1", "leaf-2", "leaf-2"), strict=True):
            Node.objects.filter(pk=node.pk).update(
                labels={"switch": switch}, reserved_cpu_milli=0, gang_network=JOINED.as_json()
            )
        assert topology_version.digest(db_now(), False) != before
        nodes = snapshot.nodes(db_now(), False)
    run = Task("run", "lab", "", "alice", 3, 0.0, 2000, 1024, gang=Gang(2))
    places = plan(Snapshot(nodes, waiting=(run,)), 0.0).places
    assert {place.node_id for place in places} == {node.id for node in nodes[1:]}  # and not the first two
