"""The API of environments: the same services, as JSON."""

from typing import Any

import pytest
from django.test import Client

from apps.common.scoping import acting
from apps.envs.models import Environment
from apps.workloads.choices import Reason, Status
from tests.builders import World, make_package, platform
from tests.envs import kit

URL = "/api/v1/environments/"


def body_for(world: World, **changes: Any) -> dict[str, Any]:
    return {"name": "notebook", "image": str(world.image.pk), "package": world.package.pk, **changes}


def send(client: Client, method: str, url: str, body: Any = None, **headers: str) -> Any:
    call = getattr(client, method)
    return call(url, body or {}, content_type="application/json", headers=headers)


def one(environment: Environment, rest: str = "") -> str:
    return f"{URL}{environment.pk}/{rest}"


def test_one_is_made_read_changed_and_thrown_away(alice: Client, world: World) -> None:
    made = send(alice, "post", URL, body_for(world))
    assert made.status_code == 201
    answer = made.json()
    assert (answer["state"], answer["idle_minutes"], answer["expires_at"]) == ("queued", 30, None)
    url = f"{URL}{answer['id']}/"
    assert alice.get(url).json()["code"].startswith("env-")
    assert send(alice, "patch", url, {"name": "other", "idle_minutes": None}).json()["name"] == "other"
    assert alice.get(url).json()["idle_minutes"] is None
    assert alice.delete(url).status_code == 204
    assert alice.get(url).json()["state"] == "binned"
    assert alice.get(URL).json()["results"] == []
    assert send(alice, "post", f"{url}restore/").json()["state"] == "stopped"


def test_the_same_key_makes_one(alice: Client, world: World) -> None:
    answers = [send(alice, "post", URL, body_for(world), **{"Idempotency-Key": "again"}) for _ in range(2)]
    assert len({answer.json()["id"] for answer in answers}) == 1
    with acting(world.actor):
        assert Environment.objects.count() == 1


def test_start_stop_keep_and_renew(alice: Client, world: World) -> None:
    made = kit.make(world, start=False)
    assert send(alice, "post", one(made, "stop/")).status_code == 409
    assert send(alice, "post", one(made, "start/")).json()["state"] == "queued"
    kit.running(kit.again(made))
    shown = send(alice, "post", one(made, "keep/")).json()
    assert shown["keep_until"] is not None
    assert shown["rate_fen_per_hour"] == "360.0000000000"
    assert send(alice, "post", one(made, "renew/"), {"duration_days": 7}).json()["expires_at"] is not None
    assert send(alice, "post", one(made, "renew/"), {"duration_days": 8}).json()["code"] == "invalid"
    assert send(alice, "post", one(made, "stop/"), {"snapshot": True}).status_code == 202
    assert alice.get(one(made)).json()["doing"] == "stop"
    kit.advance()
    assert alice.get(one(made)).json()["state"] == "stopping"


def test_the_idle_rule_shows(alice: Client, world: World) -> None:
    made = kit.running(kit.make(world))
    kit.idle_for(made, 20)
    idle = alice.get(one(made)).json()["idle"]
    assert idle["release_at"] is not None
    kit.stopped(made, Reason.IDLE)
    assert alice.get(one(made)).json()["state"] == "released"


def test_snapshots_and_rollback(alice: Client, world: World) -> None:
    made = kit.stopped(kit.make(world))
    kit.write(made, "a.txt", "a")
    assert send(alice, "post", one(made, "snapshots/"), {"note": "first"}).status_code == 202
    assert send(alice, "post", one(made, "snapshots/")).status_code == 409
    kit.advance()
    rows = alice.get(one(made, "snapshots/")).json()
    assert [(row["note"], row["file_count"]) for row in rows] == [("first", 1)]
    assert send(alice, "post", one(made, "rollback/"), {"snapshot": rows[0]["id"]}).status_code == 202
    assert [row["step"] for row in alice.get(one(made, "operations/")).json()] == ["restore", "snapshot"]
    assert alice.delete(one(made, f"snapshots/{rows[0]['id']}/")).status_code == 409
    kit.advance()
    assert alice.delete(one(made, f"snapshots/{rows[0]['id']}/")).status_code == 204


def test_without_the_gpu(alice: Client, world: World) -> None:
    made = kit.running(kit.make(world))
    with acting(platform()):
        cheap = make_package(rate_fen=36)
    asked = {"attached": False, "cpu_package": cheap.pk}
    assert send(alice, "post", one(made, "gpu/"), asked).status_code == 409
    assert send(alice, "post", one(made, "gpu/"), {**asked, "restart": True}).json()["doing"] == "restart"


def test_images_of_ones_own(alice: Client, bob: Client, world: World) -> None:
    made = kit.stopped(kit.make(world))
    assert send(alice, "post", one(made, "image/"), {"name": "mine"}).status_code == 400
    (kit.home_of(made) / ".venv/lib/python3.11/site-packages/six-1.17.0.dist-info").mkdir(parents=True)
    image = send(alice, "post", one(made, "image/"), {"name": "mine"}).json()
    url = f"/api/v1/images/mine/{image['id']}/"
    assert bob.delete(url).status_code == 404
    assert [row["name"] for row in alice.get("/api/v1/images/mine/").json()["results"]] == ["mine"]
    assert send(alice, "patch", url, {"shared": True}).json()["shared"] is True
    assert send(bob, "post", URL, body_for(world, image=image["id"])).status_code == 201
    assert alice.delete(url).status_code == 204
    assert send(bob, "post", URL, body_for(world, image=image["id"])).status_code == 400


def test_services_of_what_does_not_run(alice: Client, world: World) -> None:
    made = kit.make(world)
    assert alice.get(one(made, "services/")).json() == {"jupyter": False, "vscode": False, "tensorboard": False}
    assert send(alice, "post", one(made, "tensorboard/"), {"folder": "runs"}).status_code == 409
    assert alice.get(one(made, "metrics/cpu/")).json()[0]["points"] == []
    assert alice.get(one(made, "metrics/nonsense/")).status_code == 404


@pytest.mark.parametrize(
    "changes",
    [
        {"name": ""},
        {"image": "x"},
        {"package": -1},
        {"idle_minutes": 0},
        {"mounts": [{"kind": "volume", "id": "00000000-0000-0000-0000-000000000000"}]},
        {"mounts": [{"kind": "moon", "id": "00000000-0000-0000-0000-000000000000"}]},
        {"duration_days": 5},
    ],
)
def test_bad_input_makes_nothing(alice: Client, world: World, changes: dict[str, Any]) -> None:
    answer = send(alice, "post", URL, body_for(world, **changes))
    assert answer.status_code == 400
    assert answer.json()["fields"]
    with acting(world.actor):
        assert not Environment.objects.exists()


def test_nobody_else_reaches_it(bob: Client, charlie: Client, frank: Client, world: World) -> None:
    made = kit.running(kit.make(world))
    for client in (bob, charlie):
        assert client.get(one(made)).status_code == 404
        for action in ("start/", "stop/", "keep/", "purge/", "rollback/", "snapshots/"):
            assert send(client, "post", one(made, action), {"snapshot": None}).status_code in (400, 404)
    assert send(frank, "post", one(made, "stop/")).status_code == 403
    assert kit.again(made).workload.status == Status.RUNNING  # type: ignore[union-attr]
