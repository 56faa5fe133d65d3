"""Machines that add themselves by token: let in once, known by a secret, refused after they have left."""

import json
import os
import subprocess
import sys
from dataclasses import asdict
from datetime import timedelta
from pathlib import Path
from typing import Any
from uuid import UUID, uuid4

import pytest
from django.conf import LazySettings
from django.test import Client
from django.utils import timezone

from apps.clusters import services
from apps.clusters.discovery import Card, Machine
from apps.clusters.models import Accelerator, JoinToken, Node, Stray
from apps.common.errors import Conflict, Invalid, NotFound
from apps.common.scoping import acting
from apps.workloads import nodes, states
from apps.workloads.drivers.base import CannotSee
from apps.workloads.drivers.remote import signing
from apps.workloads.hardware import removal, strays, watch
from apps.workloads.models import Attempt, Placement, Workload
from apps.workloads.nodes import marker
from tests.builders import World, make_world, platform, submit_workload
from tests.ports import free_port

ROOT = Path(__file__).parents[2]
MACHINE = Machine(
    name="far", arch="x86_64", cpu_milli=8000, memory_mib=64_000, memory_used_mib=900, disk_mib=10_000,
    disk_free_mib=9000, cpu_pct=3.0, cards=(Card("GPU-far", 0, "nvidia", "H200", 144_384, temperature_c=40),),
)  # fmt: skip


@pytest.fixture
def world(db: None, tmp_path: Path, settings: LazySettings) -> World:
    settings.PLSTACK_HOME = tmp_path
    with acting(platform()):
        return make_world()


def token(world: World, uses: int = 1) -> str:
    with acting(platform()):
        return services.make_token(platform(), cluster_id=world.node.cluster_id, uses=uses)


def words(key: str, **changes: Any) -> dict[str, Any]:
    return {
        "token": key,
        "name": "",
        "machine_id": str(uuid4()),
        "marker": marker(),
        "port": 8765,
        "certificate": "",
        "machine": asdict(MACHINE),
        "isolation": "L1",
        "isolation_reason": "bubblewrap",
        **changes,
    }


def post(path: str, body: Any, headers: dict[str, str] | None = None) -> Any:
    data = body if isinstance(body, bytes) else json.dumps(body).encode()
    return Client().post(f"/api/v1/agents/{path}/", data, content_type="application/json", headers=headers or {})


def beat(node_id: str, secret: str, refs: tuple[str, ...] = (), **more: Any) -> Any:
    told = {"machine": asdict(MACHINE), "isolation": "L1", "isolation_reason": "", "refs": list(refs), **more}
    body = json.dumps(told).encode()
    headers = signing.request_headers(bytes.fromhex(secret), node_id, "POST", "/api/v1/agents/beat/", body)
    return post("beat", body, headers)


def test_a_token_lets_a_machine_in_with_what_it_has(world: World) -> None:
    answer = post("join", words(token(world)))
    assert answer.status_code == 200, answer.content
    node = Node.objects.get(pk=answer.json()["node_id"])
    assert (node.name, node.driver, node.cpu_milli) == ("far", "remote", 8000)
    assert node.address == "http://127.0.0.1:8765"
    assert Accelerator.objects.get(node=node).temperature_c == 40
    assert bytes.fromhex(answer.json()["secret"]) not in bytes(node.sealed_secret)


def test_the_token_itself_is_not_kept(world: World) -> None:
    key = token(world)
    assert not JoinToken.objects.filter(digest__contains=key).exists()


def test_a_token_is_good_for_so_many_machines_and_for_an_hour(world: World) -> None:
    key = token(world)
    assert post("join", words(key)).status_code == 200
    refused = post("join", words(key, name="second"))
    assert refused.status_code == 403
    assert "token" in refused.json()["detail"]
    late = token(world)
    JoinToken.objects.update(expires_at=timezone.now() - timedelta(seconds=1))
    assert post("join", words(late, name="third")).status_code == 403
    with acting(platform()), pytest.raises(Invalid):
        services.make_token(platform(), cluster_id=world.node.cluster_id, uses=0)


def test_another_data_folder_is_refused_in_words(world: World) -> None:
    refused = post("join", words(token(world), marker="something else"))
    assert refused.status_code == 409
    assert "data folder" in refused.json()["detail"]
    assert not Node.objects.filter(driver="remote").exists()


def test_a_name_that_is_taken_is_refused_in_words(world: World) -> None:
    refused = post("join", words(token(world), name=world.node.name))
    assert refused.status_code == 409
    assert "--name" in refused.json()["hint"]


@pytest.mark.parametrize(
    "change", [{"machine": {}}, {"machine_id": "x"}, {"port": "no"}, {"isolation": "L9"}, {"address": "ftp://x:1"}]
)
def test_what_no_agent_sends_is_refused(world: World, change: dict[str, Any]) -> None:
    assert post("join", words(token(world), **change)).status_code == 400
    assert not Node.objects.filter(driver="remote").exists()


def test_a_heartbeat_keeps_the_node_seen(world: World) -> None:
    joined = post("join", words(token(world))).json()
    Node.objects.filter(pk=joined["node_id"]).update(last_seen_at=timezone.now() - timedelta(hours=1))
    assert beat(joined["node_id"], joined["secret"]).status_code == 200
    node = Node.objects.get(pk=joined["node_id"])
    assert timezone.now() - node.last_seen_at < timedelta(minutes=1)
    assert node.samples.count() == 2


def test_heartbeats_of_strangers_and_repeated_ones_are_refused(world: World) -> None:
    joined = post("join", words(token(world))).json()
    assert beat(joined["node_id"], "00" * 32).status_code == 403
    assert beat(str(uuid4()), joined["secret"]).status_code == 403
    assert post("beat", {}).status_code == 403
    body = json.dumps({"machine": asdict(MACHINE), "isolation": "L1", "refs": []}).encode()
    secret = bytes.fromhex(joined["secret"])
    headers = signing.request_headers(secret, joined["node_id"], "POST", "/api/v1/agents/beat/", body)
    assert [post("beat", body, headers).status_code for _ in range(2)] == [200, 403]


def test_a_machine_that_joins_again_keeps_its_node_and_its_old_secret_is_worthless(world: World) -> None:
    machine = str(uuid4())
    old = post("join", words(token(world), machine_id=machine)).json()
    new = post("join", words(token(world), machine_id=machine)).json()
    assert new["node_id"] == old["node_id"]
    assert beat(old["node_id"], old["secret"]).status_code == 403
    assert beat(new["node_id"], new["secret"]).status_code == 200


def test_a_removed_machine_is_refused_and_unknown_to_the_driver(world: World) -> None:
    joined = post("join", words(token(world))).json()
    with acting(platform()):
        with pytest.raises(Conflict):
            removal.remove_node(platform(), node_id=UUID(joined["node_id"]))
        services.cordon(platform(), node_id=UUID(joined["node_id"]), cordoned=True)
        removal.remove_node(platform(), node_id=UUID(joined["node_id"]))
    assert beat(joined["node_id"], joined["secret"]).status_code == 403
    with pytest.raises(CannotSee):
        nodes._peer("far")
    again = post("join", words(token(world)))
    assert again.json()["node_id"] != joined["node_id"]
    assert Accelerator.objects.get().node_id == UUID(again.json()["node_id"])


def attempt_on(world: World, node: Node) -> Attempt:
    with acting(world.actor):
        workload = submit_workload(world)
    with acting(platform()):
        attempt = Attempt(id=uuid4(), organisation_id=workload.organisation_id, workload=workload, number=1, node=node)
        piece = Placement(
            organisation_id=workload.organisation_id, attempt=attempt, node=node, cpu_milli=1000, memory_mib=512
        )
        assert states.place(platform(), workload, attempt, [piece])
    return attempt


def test_work_that_nobody_accounts_for_is_reported_and_stopped_only_when_told(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    joined = post("join", words(token(world))).json()
    node = Node.objects.get(pk=joined["node_id"])
    mine, other = attempt_on(world, node), str(uuid4())
    assert beat(joined["node_id"], joined["secret"], (str(mine.pk), other)).json()["strays"] == 1
    assert str(Stray.objects.get().ref) == other
    asked: list[str] = []
    monkeypatch.setattr(type(nodes.remote_driver()), "stop", lambda self, handle, grace_s: asked.append(handle.ref))
    with acting(platform()):
        with pytest.raises(NotFound):
            strays.stop_stray(platform(), node_id=node.pk, ref=mine.pk)
        strays.stop_stray(platform(), node_id=node.pk, ref=UUID(other))
    assert asked == [other]
    beat(joined["node_id"], joined["secret"], (str(mine.pk),))
    assert not Stray.objects.exists()


def test_a_silent_node_is_told_once_and_its_work_does_not_fail(world: World) -> None:
    joined = post("join", words(token(world))).json()
    node = Node.objects.get(pk=joined["node_id"])
    attempt = attempt_on(world, node)
    Node.objects.filter(pk=node.pk).update(last_seen_at=timezone.now() - timedelta(seconds=61))
    with acting(platform()):
        assert watch.watch(platform()) == 1
        assert watch.watch(platform()) == 1
        node.refresh_from_db()
        assert node.silent_since is not None
        assert Workload.objects.get(pk=attempt.workload_id).is_live
    assert beat(joined["node_id"], joined["secret"]).status_code == 200
    with acting(platform()):
        assert watch.watch(platform()) == 0
    node.refresh_from_db()
    assert node.silent_since is None


@pytest.mark.django_db(transaction=True)
def test_one_command_adds_a_machine(live_server: Any, tmp_path: Path, settings: LazySettings) -> None:
    settings.PLSTACK_HOME = tmp_path / "platform"
    with acting(platform()):
        key = token(make_world())
        marker()
    command = [
        sys.executable, "-m", "plstack.agent", "join", "--server", live_server.url, "--token", key, "--no-run",
        "--home", str(tmp_path / "agent"), "--data", str(tmp_path / "platform" / "data"), "--name", "newcomer",
        "--port", str(free_port()),
    ]  # fmt: skip
    done = subprocess.run(
        command, cwd=ROOT, env={**os.environ, "PYTHONPATH": str(ROOT)}, capture_output=True, text=True, timeout=60,
        check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert Node.objects.get(name="newcomer").driver == "remote"
    assert (tmp_path / "agent" / "agent.json").stat().st_mode & 0o777 == 0o600
    wrong = subprocess.run(
        [*command[:-6], "--data", str(tmp_path), "--name", "other"], cwd=ROOT,
        env={**os.environ, "PYTHONPATH": str(ROOT)}, capture_output=True, text=True, timeout=60, check=False,
    )  # fmt: skip
    assert wrong.returncode == 1
    assert "not the platform's data folder" in wrong.stderr


ABLE = {"kinds": ["vxlan"], "address": "198.18.0.7", "said": []}


def test_what_a_machine_can_do_for_gangs_is_kept_and_follows_its_heartbeats(world: World) -> None:
    joined = post("join", words(token(world), gang_network=ABLE)).json()
    node = Node.objects.get(pk=joined["node_id"])
    assert node.gang_network == ABLE
    assert beat(joined["node_id"], joined["secret"]).status_code == 200
    node.refresh_from_db()
    assert node.gang_network == {}, "an agent of before says nothing of it"


@pytest.mark.parametrize("told", [7, {"kinds": ["vxlan"], "address": "127.0.0.1", "said": []}, {"kinds": 1}])
def test_a_machine_that_says_nonsense_of_its_network_joins_without_one(world: World, told: object) -> None:
    joined = post("join", words(token(world), gang_network=told)).json()
    assert Node.objects.get(pk=joined["node_id"]).gang_network == {}
