"""The API of zones, cards and nodes: the same services, rights and refusals as the pages."""

import json
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest
from django.conf import LazySettings
from django.test import Client

from apps.clusters.models import Accelerator, JoinToken, Node, Zone
from tests.builders import World, make_node
from tests.console.kit import count_entries

ROOT = "/api/v1/console"


@pytest.fixture(autouse=True)
def home(tmp_path: Path, settings: LazySettings) -> None:
    settings.PLSTACK_HOME = tmp_path


def send(client: Client, method: str, path: str, body: dict[str, Any] | None = None) -> Any:
    return client.generic(method, f"{ROOT}/{path}", json.dumps(body or {}), content_type="application/json")


def test_zones_are_made_renamed_and_deleted(ops: Client, world: World) -> None:
    made = send(ops, "POST", "zones/", {"name": "East"})
    assert made.status_code == 201
    zone = made.json()["id"]
    assert send(ops, "PATCH", f"zones/{zone}/", {"name": "West"}).json()["name"] == "West"
    assert {row["name"] for row in ops.get(f"{ROOT}/zones/").json()["results"]} == {"local", "West"}
    assert send(ops, "DELETE", f"zones/{zone}/").status_code == 204
    assert send(ops, "DELETE", f"zones/{world.node.cluster.zone_id}/").status_code == 409
    assert send(ops, "POST", "zones/", {"name": "local"}).status_code == 400


def test_a_simulated_zone_is_added_and_its_cards_are_listed_page_by_page(ops: Client, world: World) -> None:
    zone = send(ops, "POST", "zones/simulated/").json()
    assert (zone["simulated"], zone["billed"], zone["accelerators"]) == (True, False, 32)
    assert send(ops, "POST", "zones/simulated/").status_code == 409
    first = ops.get(f"{ROOT}/accelerators/?page_size=20").json()
    rest = ops.get(first["next"]).json()
    assert len(first["results"]) + len(rest["results"]) == 32
    assert len(ops.get(f"{ROOT}/accelerators/?mode=mig").json()["results"]) == 6
    assert send(ops, "DELETE", f"zones/{zone['id']}/").status_code == 204
    assert not Zone.objects.filter(simulated=True).exists()


def test_a_card_is_switched(ops: Client, world: World) -> None:
    send(ops, "POST", "zones/simulated/")
    card = Accelerator.objects.filter(node__name="sim-h100", mode="whole").first()
    assert card is not None
    assert send(ops, "POST", f"accelerators/{card.pk}/mode/", {"mode": "shared"}).json()["mode"] == "shared"
    assert send(ops, "POST", f"accelerators/{card.pk}/mode/", {"mode": "none"}).status_code == 400
    assert send(ops, "POST", f"accelerators/{uuid4()}/mode/", {"mode": "whole"}).status_code == 404


def test_a_card_tells_how_it_can_be_cut_and_given_out(ops: Client, world: World) -> None:
    send(ops, "POST", "zones/simulated/")
    card = Accelerator.objects.filter(node__name="sim-h100", mode="mig").first()
    assert card is not None
    told = ops.get(f"{ROOT}/accelerators/{card.pk}/").json()
    assert (told["mode"], told["discovered"], told["holders"]) == ("mig", False, [])
    assert {mode["mode"]: mode["isolation"] for mode in told["modes"] if not mode["why_not"]} == {
        "whole": "whole", "shared": "shared", "vgpu": "memory", "mig": "hardware"
    }  # fmt: skip
    profiles = {profile["name"]: profile["free_starts"] for profile in told["profiles"]}
    assert profiles["3g.40gb"] == [0, 4]
    assert [part["profile"] for part in told["layouts"][0]] == ["7g.80gb"]
    assert send(ops, "POST", f"accelerators/{card.pk}/mode/", {"mode": "whole", "seen": "vgpu"}).status_code == 409
    assert ops.get(f"{ROOT}/accelerators/{uuid4()}/").status_code == 404


def test_a_node_is_labelled_drained_and_removed(ops: Client, root: Client, world: World) -> None:
    node = make_node(name="spare")
    Node.objects.filter(pk=node.pk).update(driver="remote")
    path = f"nodes/{node.pk}"
    assert send(ops, "PUT", f"{path}/labels/", {"labels": {"rack": "7"}}).json()["labels"] == {"rack": "7"}
    assert send(ops, "PUT", f"{path}/labels/", {"labels": {"two words": ""}}).status_code == 400
    drained = send(root, "POST", f"{path}/drain/", {"action": "stop", "notice_minutes": 5}).json()
    assert (drained["status"], drained["drain_action"]) == ("draining", "stop")
    assert send(root, "POST", f"{path}/drain/", {"notice_minutes": -1}).status_code == 400
    assert send(root, "DELETE", f"{path}/drain/").json()["status"] == "ready"
    assert send(ops, "POST", f"{path}/remove/").status_code == 409
    send(ops, "POST", f"{path}/cordon/")
    assert send(ops, "POST", f"{path}/remove/").status_code == 204
    assert ops.get(f"{ROOT}/{path}/").status_code == 404
    assert count_entries("node.removed") == 1


def test_a_token_is_told_once_and_not_kept(ops: Client, finance: Client, world: World) -> None:
    asked = {"cluster_id": str(world.node.cluster_id), "uses": 2}
    made = send(ops, "POST", "nodes/tokens/", asked)
    assert made.status_code == 201
    assert made.headers["Cache-Control"] == "no-store"
    assert JoinToken.objects.get().uses_left == 2
    assert send(ops, "POST", "nodes/tokens/", {**asked, "uses": 0}).status_code == 400
    assert send(finance, "POST", "nodes/tokens/", asked).status_code == 403


def test_who_may_not_see_hardware_sees_no_card(finance: Client, world: World) -> None:
    assert finance.get(f"{ROOT}/accelerators/{uuid4()}/").status_code == 403


def test_the_trust_in_a_zones_network_is_changed_by_itself(ops: Client, world: World) -> None:
    path = f"zones/{world.node.cluster.zone_id}/"
    assert ops.get(f"{ROOT}/{path}").json()["trusted_network"] is False
    changed = send(ops, "PATCH", path, {"trusted_network": True}).json()
    assert (changed["name"], changed["trusted_network"]) == ("local", True)
    refused = send(ops, "PATCH", path, {"name": "", "trusted_network": False})
    assert refused.status_code == 400
    assert ops.get(f"{ROOT}/{path}").json()["trusted_network"] is True, "all of it or nothing"
