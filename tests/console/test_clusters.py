"""Logical clusters in the console: reserved, given to organisations, and nodes that move between them."""

from uuid import uuid4

import pytest
from django.test import Client

from apps.clusters.models import ClusterGrant, LogicalCluster, Node
from apps.common.scoping import acting
from tests.builders import World, platform
from tests.console.kit import count_entries, messages_of, page, post, text_of
from tests.console.test_hardware_api import ROOT, send
from tests.workloads.cards import scheduled as after_pass
from tests.workloads.cards import submit_on


@pytest.fixture
def second(world: World) -> LogicalCluster:
    """Another cluster of the zone."""
    made: LogicalCluster = LogicalCluster.objects.create(zone=world.node.cluster.zone, name="theirs")
    return made


def grants() -> set[str]:
    with acting(platform()):
        return set(ClusterGrant.objects.values_list("organisation__name", flat=True))


def test_a_cluster_is_reserved_given_and_taken_back(ops: Client, world: World) -> None:
    at = (world.node.cluster.zone_id, world.node.cluster_id)
    assert "Open: every organisation" in text_of(ops.get(page("cluster", *at)))
    post(ops, page("cluster_reserve", *at), reserved="true")
    assert "Given to nobody" in text_of(ops.get(page("cluster", *at)))
    post(ops, page("cluster_give", *at), organisation=world.organisation.name)
    shown = text_of(ops.get(page("cluster", *at)))
    assert world.organisation.name in shown
    assert "1 organisation" in text_of(ops.get(page("zone", at[0])))
    post(ops, page("cluster_withdraw", *at, world.organisation.pk))
    assert grants() == set()
    post(ops, page("cluster_reserve", *at), reserved="false")
    assert not LogicalCluster.objects.get().reserved
    assert [count_entries(f"cluster.{act}") for act in ("reserved", "given", "withdrawn")] == [2, 1, 1]


def test_what_cannot_be_given_is_refused_in_words(ops: Client, world: World) -> None:
    at = (world.node.cluster.zone_id, world.node.cluster_id)
    response = post(ops, page("cluster_give", *at), organisation=world.organisation.name, follow=True)
    assert "open to every organisation" in messages_of(response)[-1]
    post(ops, page("cluster_reserve", *at), reserved="true")
    response = post(ops, page("cluster_give", *at), organisation="nobody knows them", follow=True)
    assert "no organisation with this name" in messages_of(response)[-1]
    assert post(ops, page("cluster_withdraw", *at, world.organisation.pk)).status_code == 404
    assert ops.get(page("cluster", uuid4(), at[1])).status_code == 404
    assert grants() == set()


def test_a_node_moves_on_its_page(ops: Client, world: World, second: LogicalCluster) -> None:
    assert "Move…" in text_of(ops.get(page("node", world.node.pk)))
    post(ops, page("node_move", world.node.pk), cluster=str(second.pk))
    assert Node.objects.get().cluster == second
    assert world.node.name in text_of(ops.get(page("cluster", second.zone_id, second.pk)))
    response = post(ops, page("node_move", world.node.pk), cluster=str(second.pk), follow=True)
    assert "another logical cluster" in messages_of(response)[-1]
    assert count_entries("node.moved") == 1


def test_where_there_is_one_cluster_nothing_can_move(ops: Client, world: World) -> None:
    assert "Move…" not in text_of(ops.get(page("node", world.node.pk)))


def test_a_node_with_work_is_drained_first(ops: Client, world: World, second: LogicalCluster) -> None:
    with acting(platform()):
        after_pass(submit_on(world.actor, world.package, name="digits"))
    response = post(ops, page("node_move", world.node.pk), cluster=str(second.pk), follow=True)
    assert "digits" in messages_of(response)[-1]
    assert send(ops, "POST", f"nodes/{world.node.pk}/move/", {"cluster_id": str(second.pk)}).status_code == 409
    assert Node.objects.get().cluster_id == world.node.cluster_id


def test_the_api_does_the_same(ops: Client, world: World, second: LogicalCluster) -> None:
    path = f"clusters/{second.pk}"
    assert send(ops, "PATCH", f"{path}/", {"reserved": True}).json()["reserved"]
    given = {"organisation_id": str(world.organisation.pk)}
    assert send(ops, "POST", f"{path}/organisations/", given).status_code == 204
    (row,) = ops.get(f"{ROOT}/{path}/organisations/").json()["results"]
    assert row["organisation"] == world.organisation.name
    listed = {each["name"]: each for each in ops.get(f"{ROOT}/zones/{second.zone_id}/clusters/").json()}
    assert (listed["theirs"]["reserved"], listed["theirs"]["organisations"]) == (True, 1)
    moved = send(ops, "POST", f"nodes/{world.node.pk}/move/", {"cluster_id": str(second.pk)})
    assert moved.json()["cluster"] == "theirs"
    assert send(ops, "DELETE", f"{path}/organisations/{world.organisation.pk}/").status_code == 204
    assert send(ops, "DELETE", f"{path}/organisations/{world.organisation.pk}/").status_code == 404
    assert send(ops, "POST", f"{path}/organisations/", {"organisation_id": str(uuid4())}).status_code == 404
    assert send(ops, "POST", f"clusters/{uuid4()}/organisations/", given).status_code == 404
    assert send(ops, "POST", f"nodes/{world.node.pk}/move/", {"cluster_id": str(uuid4())}).status_code == 400
    assert send(ops, "PATCH", f"{path}/", {}).status_code == 400


def test_who_may_not_manage_nodes_changes_nothing(business: Client, alice: Client, second: LogicalCluster) -> None:
    at = (second.zone_id, second.pk)
    for client in (business, alice):
        assert post(client, page("cluster_reserve", *at), reserved="true").status_code in (403, 404)
        assert send(client, "PATCH", f"clusters/{second.pk}/", {"reserved": True}).status_code in (403, 404)
    assert not LogicalCluster.objects.get(pk=second.pk).reserved
