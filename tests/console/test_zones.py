"""Zones and clusters in the console; the simulated zone from its button to its end."""

from pathlib import Path

import pytest
from django.conf import LazySettings
from django.test import Client

from apps.clusters.models import LogicalCluster, Node, Zone, ZonePackage
from tests.builders import World
from tests.console.kit import count_entries, messages_of, page, post, text_of


@pytest.fixture(autouse=True)
def home(tmp_path: Path, settings: LazySettings) -> None:
    settings.PLSTACK_HOME = tmp_path


def test_a_zone_is_made_renamed_and_deleted_while_it_is_empty(ops: Client, world: World) -> None:
    post(ops, page("zone_create"), name="East  hall")
    zone = Zone.objects.get(name="East hall")
    assert zone.clusters.get().name == "default"
    post(ops, page("zone_rename", zone.pk), name="West hall")
    assert "West hall" in text_of(ops.get(page("zone", zone.pk)))
    post(ops, page("zone_delete", zone.pk))
    assert not Zone.objects.filter(pk=zone.pk).exists()
    assert [count_entries(f"zone.{act}") for act in ("created", "renamed", "deleted")] == [1, 1, 1]


@pytest.mark.parametrize("name", ["", "   ", "local", "x" * 61])
def test_a_bad_name_is_refused_in_words_and_changes_nothing(ops: Client, world: World, name: str) -> None:
    before = Zone.objects.count()
    assert messages_of(post(ops, page("zone_create"), name=name, follow=True))
    assert Zone.objects.count() == before


def test_a_zone_with_machines_stays(ops: Client, world: World) -> None:
    response = post(ops, page("zone_delete", world.node.cluster.zone_id), follow=True)
    assert "1 nodes are in this zone" in messages_of(response)[-1]
    assert Zone.objects.filter(name="local").exists()


def test_clusters_are_made_renamed_and_deleted_but_the_last(ops: Client, world: World) -> None:
    zone = world.node.cluster.zone
    post(ops, page("cluster_create", zone.pk), name="teaching")
    made = LogicalCluster.objects.get(name="teaching")
    post(ops, page("cluster_rename", zone.pk, made.pk), name="research")
    post(ops, page("cluster_delete", zone.pk, made.pk))
    assert not LogicalCluster.objects.filter(pk=made.pk).exists()
    response = post(ops, page("cluster_delete", zone.pk, world.node.cluster_id), follow=True)
    assert "nodes are in this cluster" in messages_of(response)[-1]


def test_the_simulated_zone_comes_with_a_click_and_goes_with_one(root: Client, world: World) -> None:
    post(root, page("zone_simulate"))
    zone = Zone.objects.get(simulated=True)
    text = text_of(root.get(page("zone", zone.pk)))
    assert "Nothing here exists" in text
    assert "Simulated: free" in text
    post(root, page("zone_offer", zone.pk))
    assert ZonePackage.objects.filter(zone=zone, package__active=True).count() >= 14
    assert text_of(root.get(page("nodes"))).count("pl-sim") >= 4
    assert "pl-sim" in text_of(root.get(page("accelerators")))
    assert "already" in messages_of(post(root, page("zone_simulate"), follow=True))[-1]
    post(root, page("zone_bill", zone.pk), billed="true")
    zone.refresh_from_db()
    assert zone.billed
    post(root, page("zone_remove", zone.pk))
    assert not Zone.objects.filter(simulated=True).exists()
    assert Node.objects.get() == world.node


def test_ops_may_not_price_and_finance_may_not_build(ops: Client, finance: Client, world: World) -> None:
    post(ops, page("zone_simulate"))
    zone = Zone.objects.get(simulated=True)
    assert post(ops, page("zone_offer", zone.pk)).status_code == 403
    assert post(ops, page("zone_bill", zone.pk), billed="true").status_code == 403
    assert post(finance, page("zone_remove", zone.pk)).status_code == 403


def test_simulated_hardware_counts_nowhere_on_the_overview(root: Client, world: World) -> None:
    before = root.get(page("overview")).context["capacity"]
    post(root, page("zone_simulate"))
    assert root.get(page("overview")).context["capacity"] == before


def test_the_network_between_nodes_is_trusted_only_when_an_operator_says_so(
    ops: Client, business: Client, world: World
) -> None:
    zone = world.node.cluster.zone
    assert "Not trusted: each gang runs on one node" in text_of(ops.get(page("zone", zone.pk)))
    assert post(business, page("zone_network", zone.pk), trusted="true").status_code in (403, 404)
    assert not Zone.objects.get(pk=zone.pk).trusted_network
    post(ops, page("zone_network", zone.pk), trusted="true")
    assert Zone.objects.get(pk=zone.pk).trusted_network
    assert "Trusted: gangs may span nodes" in text_of(ops.get(page("zone", zone.pk)))
    post(ops, page("zone_network", zone.pk), trusted="false")
    assert not Zone.objects.get(pk=zone.pk).trusted_network
    assert count_entries("zone.network") == 2


def test_a_simulated_network_is_not_to_be_trusted(root: Client, world: World) -> None:
    post(root, page("zone_simulate"))
    zone = Zone.objects.get(simulated=True)
    assert "Network between the nodes" not in text_of(root.get(page("zone", zone.pk)))
    assert (
        "Nothing has to join" in messages_of(post(root, page("zone_network", zone.pk), trusted="true", follow=True))[-1]
    )
    assert not Zone.objects.get(pk=zone.pk).trusted_network
