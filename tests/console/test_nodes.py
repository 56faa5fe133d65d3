"""Nodes: what they give out, closing and opening them, their load."""

from datetime import timedelta
from uuid import uuid4

import pytest
from django.test import Client
from django.utils import timezone

from apps.clusters.choices import NodeStatus
from apps.clusters.models import Accelerator, Node, NodeSample, Zone
from apps.common.scoping import acting
from apps.workloads import states
from apps.workloads.drivers.overlay import Ability, Kind
from apps.workloads.drivers.said import Code, Said
from apps.workloads.models import Attempt, Placement, Workload
from tests.builders import World, platform, submit_workload
from tests.console.kit import count_entries, last_entry, messages_of, page, post, text_of


def placed(world: World) -> Workload:
    """A workload that holds one core and half a GiB of the world's node."""
    with acting(world.actor):
        workload = submit_workload(world)
    with acting(platform()):
        attempt = Attempt(
            id=uuid4(), organisation_id=workload.organisation_id, workload=workload, number=1, node=world.node
        )
        piece = Placement(
            organisation_id=workload.organisation_id, attempt=attempt, node=world.node, cpu_milli=1000, memory_mib=512
        )
        assert states.place(platform(), workload, attempt, [piece])
    return workload


def test_a_node_shows_what_is_given_out_and_what_runs_on_it(ops: Client, world: World) -> None:
    workload = placed(world)
    assert "1 of 4 cores" in text_of(ops.get(page("nodes")))
    text = text_of(ops.get(page("node", world.node.pk)))
    assert "512 MiB of 8 GiB" in text
    assert page("workload", workload.pk) in text


def test_the_isolation_level_stands_with_its_reason(ops: Client, world: World) -> None:
    Node.objects.filter(pk=world.node.pk).update(isolation="L0", isolation_reason="bubblewrap is missing")
    text = text_of(ops.get(page("node", world.node.pk)))
    assert "Workloads are not kept apart" in text
    assert "bubblewrap is missing" in text


def test_a_silent_node_is_said_to_be_silent(ops: Client, world: World) -> None:
    Node.objects.filter(pk=world.node.pk).update(last_seen_at=timezone.now() - timedelta(minutes=5))
    assert "Not heard from" in text_of(ops.get(page("nodes")))
    assert "Last seen" in text_of(ops.get(page("node", world.node.pk)))


def test_cards_show_mode_health_and_memory(ops: Client, world: World) -> None:
    Accelerator.objects.create(
        node=world.node, uuid="GPU-1", index=0, vendor="nvidia", model="H200", memory_mib=144_384, healthy=False
    )
    text = text_of(ops.get(page("node", world.node.pk)))
    assert "Does not answer" in text
    assert "0 GB of 141 GB" in text


def test_cordoning_keeps_what_runs_and_is_logged(ops: Client, world: World) -> None:
    workload = placed(world)
    response = post(ops, page("node_cordon", world.node.pk), follow=True)
    assert "takes no new work" in messages_of(response)[-1]
    world.node.refresh_from_db()
    assert world.node.status == NodeStatus.CORDONED
    with acting(platform()):
        assert Workload.objects.get(pk=workload.pk).status == "placed"
    assert last_entry("node.cordoned").after == {"status": "cordoned"}
    again = post(ops, page("node_cordon", world.node.pk), follow=True)
    assert messages_of(again)[-1] == "The node is in this state already."
    assert count_entries("node.cordoned") == 1
    post(ops, page("node_uncordon", world.node.pk))
    world.node.refresh_from_db()
    assert world.node.status == NodeStatus.READY


def test_finance_staff_may_not_cordon(finance: Client, world: World) -> None:
    assert post(finance, page("node_cordon", world.node.pk)).status_code == 403


def test_acts_need_a_post(ops: Client, world: World) -> None:
    assert ops.get(page("node_cordon", world.node.pk)).status_code == 405


def test_the_charts_get_only_points_that_are_newer(ops: Client, world: World) -> None:
    now = timezone.now()
    for minutes in (30, 20, 10):
        NodeSample.objects.create(
            node=world.node, at=now - timedelta(minutes=minutes), cpu_pct=minutes, memory_used_mib=2048, disk_used_pct=1
        )
    url = page("node_load", world.node.pk, "cpu")
    (series,) = ops.get(url).json()
    assert [value for _at, value in series["points"]] == [30, 20, 10]
    (newer,) = ops.get(url, {"since": series["points"][1][0]}).json()
    assert [value for _at, value in newer["points"]] == [10]
    (memory,) = ops.get(page("node_load", world.node.pk, "memory")).json()
    assert (memory["unit"], memory["points"][0][1]) == ("GiB", 2.0)


@pytest.mark.parametrize("name", ["nonsense", "cpu-load"])
def test_an_unknown_chart_does_not_exist(ops: Client, world: World, name: str) -> None:
    assert ops.get(page("node_load", world.node.pk, name)).status_code == 404


def test_a_node_says_what_it_can_do_for_gangs_over_machines(ops: Client, world: World) -> None:
    path = page("node", world.node.pk)
    assert "with all its members or not at all" in text_of(ops.get(path))
    assert "Nodes without an agent" in text_of(ops.get(path))
    told = Ability(frozenset({Kind.VXLAN}), "198.18.0.7", (Said(Code.WIREGUARD_MISSING),)).as_json()
    Node.objects.filter(pk=world.node.pk).update(gang_network=told)
    text = text_of(ops.get(path))
    assert "is not trusted" in text
    assert "The kernel has no WireGuard." in text
    assert "198.18.0.7" in text
    Zone.objects.filter(pk=world.node.cluster.zone_id).update(trusted_network=True)
    assert "Joined with other nodes" in text_of(ops.get(path))
    answer = ops.get(f"/api/v1/console/nodes/{world.node.pk}/").json()["gang_network"]
    assert answer == {
        "kinds": ["vxlan"],
        "address": "198.18.0.7",
        "joined": True,
        "reasons": ["The kernel has no WireGuard."],
    }


def test_a_node_that_lacks_the_tools_names_them(ops: Client, world: World) -> None:
    told = Ability(said=(Said(Code.IPROUTE_MISSING),)).as_json()
    Node.objects.filter(pk=world.node.pk).update(gang_network=told)
    assert "iproute2" in text_of(ops.get(page("node", world.node.pk)))
