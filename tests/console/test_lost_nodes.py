"""Lost machines at the operators' pages and in their API: said honestly, declared, removed, and back again."""

import json
from pathlib import Path
from typing import Any

import pytest
from django.conf import LazySettings
from django.test import Client

from apps.clusters.models import Node
from apps.common.scoping import acting
from apps.workloads.choices import Status
from apps.workloads.hardware import lost
from apps.workloads.models import Workload
from apps.workloads.nodes import MARKER, data_root
from tests.builders import World, platform, reload
from tests.console.kit import count_entries, last_entry, messages_of, page, post, text_of
from tests.workloads.machines import Machine, fenced, joined, run_for
from tests.workloads.machines import die as cut_off

ROOT = "/api/v1/console"


@pytest.fixture(autouse=True)
def home(tmp_path: Path, settings: LazySettings) -> None:
    settings.PLSTACK_HOME = tmp_path


@pytest.fixture
def machine(world: World, monkeypatch: pytest.MonkeyPatch) -> Machine:
    with acting(platform()):
        return joined(world, monkeypatch)


@pytest.fixture
def workload(world: World, machine: Machine) -> Workload:
    with acting(platform()):
        return run_for(world, machine)


def die(machine: Machine) -> None:
    with acting(platform()):
        cut_off(machine)


def release() -> None:
    with acting(platform()):
        fenced()
        lost.advance(platform())


def send(client: Client, path: str, body: dict[str, Any] | None = None) -> Any:
    return client.post(f"{ROOT}/{path}", json.dumps(body or {}), content_type="application/json")


def test_a_machine_that_is_well_offers_no_loss(ops: Client, machine: Machine, workload: Workload) -> None:
    text = text_of(ops.get(page("node", machine.node.pk)))
    assert "Declare lost…" not in text
    response = post(ops, page("node_lost", machine.node.pk), follow=True)
    assert "The node answers" in messages_of(response)[0]
    assert send(ops, f"nodes/{machine.node.pk}/lost/").status_code == 409


def test_a_silent_one_does_and_says_what_that_means(ops: Client, machine: Machine, workload: Workload) -> None:
    die(machine)
    text = text_of(ops.get(page("node", machine.node.pk)))
    assert "Declare lost…" in text
    assert "After 5 minutes of silence it is declared lost" in text
    assert "What ran on it since its last checkpoint; that is credited" in text
    response = post(ops, page("node_lost", machine.node.pk), follow=True)
    assert "is lost" in messages_of(response)[0]
    assert last_entry("node.lost").after["workloads"] == 1
    release()
    with acting(platform()):
        assert reload(workload).status == Status.QUEUED
    text = text_of(ops.get(page("node", machine.node.pk)))
    assert "Lost since" in text
    assert "unknown until it is back" in text
    assert "Lost" in text_of(ops.get(page("nodes")))
    assert page("node", machine.node.pk) in text_of(ops.get(page("nodes") + "?status=lost"))
    assert page("node", machine.node.pk) not in text_of(ops.get(page("nodes") + "?status=stale"))


def test_the_api_says_and_does_the_same(ops: Client, finance: Client, machine: Machine, workload: Workload) -> None:
    die(machine)
    assert send(finance, f"nodes/{machine.node.pk}/lost/").status_code == 403
    shown = send(ops, f"nodes/{machine.node.pk}/lost/").json()
    assert shown["status"] == "lost"
    assert shown["lost_at"]
    assert shown["lost_by"]
    assert send(ops, f"nodes/{machine.node.pk}/lost/").status_code == 200
    assert count_entries("node.lost") == 1
    release()
    assert send(ops, f"nodes/{machine.node.pk}/remove/").status_code == 204


def test_a_silent_machine_with_work_is_removed_in_one_act(ops: Client, machine: Machine, workload: Workload) -> None:
    die(machine)
    refused = send(ops, f"nodes/{machine.node.pk}/remove/")
    assert refused.status_code == 409
    assert "declare it lost" in refused.json()["hint"]
    assert "Declare lost and remove…" in text_of(ops.get(page("node", machine.node.pk)))
    post(ops, page("node_remove", machine.node.pk), lost="yes")
    release()
    with acting(platform()):
        assert reload(workload).status == Status.QUEUED
        assert not Node.objects.filter(pk=machine.node.pk).exists()


def test_draining_a_silent_machine_says_that_nothing_ends(root: Client, machine: Machine, workload: Workload) -> None:
    die(machine)
    response = post(root, page("node_drain", machine.node.pk), follow=True, minutes="0", action="requeue")
    assert "declare it lost instead" in messages_of(response)[0]
    assert "nothing on it can be asked to end" in text_of(response)


def test_the_minutes_are_set_on_a_page_and_in_the_api(root: Client, ops: Client, world: World) -> None:
    assert "Lost after" in text_of(root.get(page("settings_nodes")))
    assert post(root, page("settings_nodes"), lost_after_minutes="1").status_code == 422
    post(root, page("settings_nodes"), lost_after_minutes="15")
    assert root.get(f"{ROOT}/settings/nodes/").json() == {"lost_after_minutes": 15}
    changed = root.patch(
        f"{ROOT}/settings/nodes/", json.dumps({"lost_after_minutes": 1}), content_type="application/json"
    )
    assert changed.status_code == 400
    assert last_entry("settings.changed").after == {"lost_after_minutes": 15}


def test_a_token_of_the_api_marks_the_shared_folder_too(ops: Client, world: World) -> None:
    assert not (data_root() / MARKER).exists()
    made = send(ops, "nodes/tokens/", {"cluster_id": str(world.node.cluster_id)})
    assert made.status_code == 201
    assert (data_root() / MARKER).read_text().strip()
    (data_root() / MARKER).unlink()
    post(ops, page("node_new"), cluster=str(world.node.cluster_id), uses="1")
    assert (data_root() / MARKER).exists()


def test_simulated_machines_are_switched_off_and_on(ops: Client, world: World) -> None:
    send(ops, "zones/simulated/")
    node = Node.objects.filter(driver="simulated").first()
    assert node is not None
    assert "Switch off…" in text_of(ops.get(page("node", node.pk)))
    post(ops, page("node_switch_off", node.pk))
    assert Node.objects.get(pk=node.pk).switched_off
    assert "Switch on" in text_of(ops.get(page("node", node.pk)))
    assert send(ops, f"nodes/{node.pk}/switch-off/").status_code == 409
    assert send(ops, f"nodes/{node.pk}/switch-on/").json()["switched_off"] is False
    assert send(ops, f"nodes/{world.node.pk}/switch-off/").status_code == 409
    assert count_entries("node.switched_off") == 1
