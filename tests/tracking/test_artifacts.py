"""Artifacts by MLflow's proxied protocol: whole or not at all, in the run's output, for those who see the run."""

import asyncio
from pathlib import Path
from typing import Any

import pytest
from django.conf import LazySettings
from django.db.models.functions import Now
from django.test import Client

from apps.common.errors import Invalid
from apps.common.scoping import acting
from apps.storage.services import root_of
from apps.tenants import tokens
from apps.tenants.actors import personal_actor
from apps.tenants.models import User
from apps.tracking import artifacts
from apps.tracking.run_tokens import token_of
from apps.training.models import Run
from apps.workloads.gateway import tracking_door
from apps.workloads.gateway.proxy import Refused
from apps.workloads.models import Attempt
from tests.builders import World, make_member, make_world, platform
from tests.training.kit import submit

ARTIFACTS = "/api/2.0/mlflow-artifacts/artifacts"


@pytest.fixture
def run(world: World, tmp_path: Path, settings: LazySettings) -> Run:
    settings.PLSTACK_HOME, settings.RUN_OUTPUT_MIB = tmp_path, 1
    return submit(world)


@pytest.fixture
def attempt(world: World, run: Run) -> Attempt:
    with acting(platform()):
        made: Attempt = Attempt.objects.create(
            organisation_id=run.organisation_id, workload=run.workload, number=1, node=world.node
        )
    return made


class Caller:
    """Whoever holds a token."""

    def __init__(self, client: Client, token: str, run: Run) -> None:
        self.client, self.token = client, f"Bearer {token}"
        self.base = f"{ARTIFACTS}/{run.workload_id.hex}"

    def put(self, path: str, body: bytes, **more: Any) -> Any:
        kind = "text/plain"
        return self.client.put(f"{self.base}/{path}", body, kind, HTTP_AUTHORIZATION=self.token, **more)

    def get(self, path: str) -> Any:
        return self.client.get(f"{self.base}/{path}", HTTP_AUTHORIZATION=self.token)

    def files(self, path: str = "") -> Any:
        asked = {"path": f"{self.base.rpartition('/')[2]}/{path}".rstrip("/")}
        return self.client.get(ARTIFACTS, asked, HTTP_AUTHORIZATION=self.token).json()["files"]


@pytest.fixture
def program(client: Client, attempt: Attempt, run: Run) -> Caller:
    return Caller(client, token_of(attempt.pk), run)


def person(user: User, world: World, run: Run) -> Caller:
    organisation_id = world.organisation.pk
    with acting(platform()):
        grants = tokens.grantable(user, organisation_id)
        draft = tokens.TokenDraft("x", organisation_id, grants, tokens.Lifetime.MONTH)
        return Caller(Client(), tokens.create(personal_actor(user), draft=draft)[1], run)


def body(response: Any) -> bytes:
    async def read() -> bytes:
        return b"".join([part async for part in response.streaming_content])

    return asyncio.run(read())


def names(root: Path) -> list[str]:
    return sorted(str(path.relative_to(root)) for path in root.rglob("*") if path.is_file())


def test_a_file_is_put_listed_read_and_replaced(program: Caller, run: Run) -> None:
    assert program.files() == []
    for content in (b"first", b"second one"):
        assert program.put("model/weights.bin", content).status_code == 200
        assert body(program.get("model/weights.bin")) == content
    assert program.put("empty", b"").status_code == 200
    assert program.files() == [
        {"path": "model", "is_dir": True},
        {"path": "empty", "is_dir": False, "file_size": 0},
    ]
    assert program.files("model") == [{"path": "weights.bin", "is_dir": False, "file_size": 10}]
    assert program.files("model/weights.bin") == []
    assert names(root_of(run.output)) == ["artifacts/empty", "artifacts/model/weights.bin"]
    assert (root_of(run.output) / "artifacts/model/weights.bin").stat().st_mode & 0o777 == 0o644


def test_the_calls_of_runs_name_the_same_files(program: Caller, run: Run) -> None:
    program.put("model/weights.bin", b"words")
    asked = {"run_id": run.workload_id.hex, "path": "model"}
    found = program.client.get("/api/2.0/mlflow/artifacts/list", asked, HTTP_AUTHORIZATION=program.token).json()
    assert found == {
        "root_uri": f"mlflow-artifacts:/{run.workload_id.hex}",
        "files": [{"path": "model/weights.bin", "is_dir": False, "file_size": 5}],
    }
    shown = program.client.get("/api/2.0/mlflow/runs/get", asked, HTTP_AUTHORIZATION=program.token).json()
    assert shown["run"]["info"]["artifact_uri"] == found["root_uri"]


@pytest.mark.parametrize("path", ["../code/train.py", "a/../../b", "/etc/passwd", ".plstack-1", "a\nb", "x" * 300])
def test_a_path_that_leads_out_is_refused(program: Caller, run: Run, path: str) -> None:
    answer = program.put(path.replace("\n", "%0A"), b"words")
    assert answer.status_code in (400, 404), answer.content
    assert names(root_of(run.output)) == []


def test_no_link_that_the_program_made_is_followed(program: Caller, run: Run, tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "secret").write_text("words")
    folder = root_of(run.output) / "artifacts"
    folder.mkdir()
    (folder / "way").symlink_to(outside)
    (folder / "file").symlink_to(outside / "secret")
    assert program.get("way/secret").status_code == 404
    assert program.get("file").status_code == 404
    assert program.put("way/new", b"words").status_code == 404
    assert program.put("file", b"words").status_code == 400
    assert program.files() == []
    assert names(outside) == ["secret"]
    assert (outside / "secret").read_text() == "words"


def test_what_is_over_the_limits_of_the_output_is_refused(program: Caller, run: Run, settings: LazySettings) -> None:
    assert program.put("small", b"x" * 600_000).status_code == 200
    answer = program.put("large", b"x" * 600_000)
    assert (answer.status_code, answer.json()["error_code"]) == (400, "INVALID_PARAMETER_VALUE")
    assert "at most 1" in answer.json()["message"]
    settings.RUN_FILES = 2
    answer = program.put("third", b"x")
    assert "2 files and folders" in answer.json()["message"]
    assert names(root_of(run.output)) == ["artifacts/small"]


@pytest.mark.parametrize("sent", [b"too short", b"x" * 41])
def test_a_body_of_another_size_leaves_what_was_there(program: Caller, run: Run, sent: bytes) -> None:
    program.put("file", b"old")
    place = artifacts.place_of(run.workload, run.workload_id)
    with pytest.raises(Invalid):
        artifacts.store(place, "file", size=40, chunks=[sent], admit=lambda: None)
    assert (root_of(run.output) / "artifacts/file").read_bytes() == b"old"
    assert names(root_of(run.output)) == ["artifacts/file"]


def test_a_run_that_ends_meanwhile_is_left_as_it_is(run: Run) -> None:
    place, asked = artifacts.place_of(run.workload, run.workload_id), iter([False, True])

    def admit() -> None:
        if next(asked):
            raise artifacts.RunEnded

    with pytest.raises(artifacts.RunEnded):
        artifacts.store(place, "file", size=5, chunks=[b"words"], admit=admit)
    assert names(root_of(run.output)) == []


def test_an_ended_run_takes_no_more(program: Caller, attempt: Attempt, world: World, run: Run) -> None:
    """To people it says so; a program's token has ended with its attempt."""
    program.put("file", b"words")
    owner = person(world.alice, world, run)
    answer = owner.put("more", b"words")
    assert (answer.status_code, answer.json()["error_code"]) == (409, "INVALID_PARAMETER_VALUE")
    assert "not running" in answer.json()["message"]
    assert body(owner.get("file")) == b"words"
    with acting(platform()):
        Attempt.objects.filter(pk=attempt.pk).update(ended_at=Now())
    assert program.put("more", b"words").status_code == 401
    assert names(root_of(run.output)) == ["artifacts/file"]


def test_strangers_find_nothing_and_colleagues_write_nothing(program: Caller, world: World, run: Run) -> None:
    program.put("file", b"words")
    with acting(platform()):
        other = make_world()
        bob = make_member(world.organisation, "bob")
    stranger, colleague = person(other.alice, other, run), person(bob, world, run)
    for caller in (stranger, colleague):
        assert caller.get("file").status_code == 404
        assert caller.put("file", b"other").status_code == 404
    assert (root_of(run.output) / "artifacts/file").read_bytes() == b"words"


def test_a_nested_run_has_a_folder_of_its_own(program: Caller, run: Run) -> None:
    made = program.client.post(
        "/api/2.0/mlflow/runs/create", "{}", "application/json", HTTP_AUTHORIZATION=program.token
    ).json()["run"]["info"]
    inside = Caller(program.client, program.token.removeprefix("Bearer "), run)
    inside.base = f"{ARTIFACTS}/{made['run_id']}"
    assert inside.put("file", b"inside").status_code == 200
    assert program.files() == []
    assert names(root_of(run.output)) == [f"artifacts-nested/{made['run_id']}/file"]


def test_what_is_not_done_says_so(program: Caller, run: Run) -> None:
    program.put("file", b"words")
    answer = program.client.delete(f"{program.base}/file", HTTP_AUTHORIZATION=program.token)
    assert (answer.status_code, answer.json()["error_code"]) == (400, "NOT_IMPLEMENTED")
    url = f"/api/2.0/mlflow-artifacts/mpu/create/{run.workload_id.hex}"
    answer = program.client.post(url, "{}", "application/json", HTTP_AUTHORIZATION=program.token)
    assert answer.json()["message"] == "Multipart upload is not supported for the current artifact repository"
    assert names(root_of(run.output)) == ["artifacts/file"]


def test_an_output_that_is_not_mounted_here_is_named(program: Caller, run: Run) -> None:
    root_of(run.output).rename(root_of(run.output).with_name("elsewhere"))
    answer = program.put("file", b"words")
    assert answer.status_code == 400
    assert "cannot be reached" in answer.json()["message"]


def test_the_door_lets_files_through_and_nothing_else() -> None:
    for method in ("PUT", "GET", "DELETE"):
        asked = tracking_door.parse(f"{method} {ARTIFACTS}/1/file HTTP/1.1\r\nContent-Length: 3".encode())
        assert asked.method == method
    for line in (f"PUT {ARTIFACTS}/../../x HTTP/1.1", "PUT /api/v1/uploads/ HTTP/1.1", f"TRACE {ARTIFACTS} HTTP/1.1"):
        with pytest.raises(Refused):
            tracking_door.parse(line.encode())
