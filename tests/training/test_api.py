"""The API of training says and does the same as the pages."""

import json
from typing import Any
from uuid import uuid4

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client
from django.utils.dateparse import parse_datetime

from apps.common.scoping import acting
from apps.storage import services as storage
from apps.training.models import Run
from apps.workloads.choices import Status
from apps.workloads.models import Workload
from tests.builders import World, make_world, platform, signed_in
from tests.training.kit import body_for, submit

RUNS = "/api/v1/training/runs/"


def post(client: Client, path: str, body: dict[str, Any] | None = None, **headers: str) -> Any:
    return client.post(path, json.dumps(body or {}), content_type="application/json", headers=headers)


def total() -> int:
    with acting(platform()):
        return Run.objects.count()


def test_a_run_is_started_and_read_back(world: World, alice: Client) -> None:
    made = post(alice, RUNS, body_for(world))
    assert made.status_code == 201
    run = made.json()
    assert (run["name"], run["status"], run["version"]) == ("digits", "queued", 1)
    assert run["command"] == ["python", "-u", "train.py", "--epochs", "20"]
    assert run["wait"]["title"] == "Waiting for the scheduler"
    assert alice.get(f"{RUNS}{run['id']}/").json() == run
    assert [row["id"] for row in alice.get(RUNS).json()["results"]] == [run["id"]]


def test_the_same_idempotency_key_starts_one_run(world: World, alice: Client) -> None:
    headers = {"Idempotency-Key": uuid4().hex}
    first, again = post(alice, RUNS, body_for(world), **headers), post(alice, RUNS, body_for(world), **headers)
    assert first.json()["id"] == again.json()["id"]
    assert total() == 1
    assert post(alice, RUNS, body_for(world), **{"Idempotency-Key": "x" * 65}).status_code == 400


@pytest.mark.parametrize(
    ("changes", "field"),
    [
        ({"name": ""}, "name"),
        ({"name": None}, "name"),
        ({"name": "a/b"}, "name"),
        ({"image": "x"}, "image"),
        ({"image": str(uuid4())}, "image"),
        ({"package": 0}, "package"),
        ({"package": 10**30}, "package"),
        ({"package": 999_999}, "package"),
        ({"entry": "perl"}, "entry"),
        ({"script": "../a"}, "path"),
        ({"text": "  "}, "text"),
        ({"text": 7, "code": "x"}, "code"),
        ({"arguments": [["a"]]}, "arguments"),
        ({"arguments": "--a 1"}, "arguments"),
        ({"arguments": [["a", "b"]] * 101}, "arguments"),
        ({"environment": [["1", "b"]]}, "environment"),
        ({"note": "x" * 201}, "note"),
    ],
)
def test_bad_input_is_a_problem_that_names_the_field(
    world: World, alice: Client, changes: dict[str, Any], field: str
) -> None:
    answer = post(alice, RUNS, body_for(world, **changes))
    assert answer.status_code == 400
    assert answer.headers["Content-Type"] == "application/problem+json"
    assert field in answer.json()["fields"]
    assert total() == 0


@pytest.mark.parametrize("body", [b"", b"{", b"[]", b"null", b'"x"', b"\xff"])
def test_a_body_that_is_no_object_is_a_problem(alice: Client, body: bytes) -> None:
    answer = alice.post(RUNS, body, content_type="application/json")
    assert answer.status_code == 400
    assert answer.headers["Content-Type"] == "application/problem+json"


def test_too_little_money_is_402_with_a_hint(db: None) -> None:
    with acting(platform()):
        world = make_world(balance_fen=10)
    answer = post(signed_in(world.alice), RUNS, body_for(world))
    assert answer.status_code == 402
    assert answer.json()["code"] == "insufficient_funds"
    assert answer.json()["hint"]


def test_a_stranger_finds_nothing(world: World, charlie: Client) -> None:
    run = submit(world)
    assert charlie.get(RUNS).json()["results"] == []
    for path in ("", "log/", "outputs/", "outputs/file/?path=a", "events/", "metrics/cpu/", "cost/"):
        assert charlie.get(f"{RUNS}{run.pk}/{path}").status_code == 404
    for path in ("stop/", "rerun/"):
        assert post(charlie, f"{RUNS}{run.pk}/{path}").status_code == 404
    assert total() == 1


def test_nobody_gets_in_unsigned(world: World) -> None:
    run = submit(world)
    assert Client().get(RUNS).status_code == 401
    assert Client().get(f"{RUNS}{run.pk}/").status_code == 401


def test_stop_and_rerun(world: World, alice: Client) -> None:
    run = submit(world)
    assert post(alice, f"{RUNS}{run.pk}/stop/").json()["status"] == "stopped"
    assert post(alice, f"{RUNS}{run.pk}/stop/").status_code == 409
    headers = {"Idempotency-Key": "again"}
    again = post(alice, f"{RUNS}{run.pk}/rerun/", None, **headers)
    assert again.status_code == 201
    assert again.json()["version"] == 2
    assert post(alice, f"{RUNS}{run.pk}/rerun/", None, **headers).json()["id"] == again.json()["id"]
    with acting(platform()):
        assert set(Workload.objects.values_list("status", flat=True)) == {Status.STOPPED, Status.QUEUED}


def test_events_are_in_words_and_resume_after_an_id(world: World, alice: Client) -> None:
    run = submit(world)
    events = alice.get(f"{RUNS}{run.pk}/events/").json()
    assert [event["text"] for event in events] == ["Submitted and queued"]
    assert alice.get(f"{RUNS}{run.pk}/events/?after={events[0]['id']}").json() == []
    assert alice.get(f"{RUNS}{run.pk}/events/?after=x").status_code == 400


def test_events_are_read_onwards_oldest_first(world: World, alice: Client) -> None:
    run = submit(world)
    post(alice, f"{RUNS}{run.pk}/stop/")
    events = alice.get(f"{RUNS}{run.pk}/events/").json()
    assert [event["status"] for event in events] == ["queued", "stopped"]
    onwards = alice.get(f"{RUNS}{run.pk}/events/?after={events[0]['id']}").json()
    assert onwards == events[1:]


def test_outputs_are_listed_and_downloaded(world: World, alice: Client) -> None:
    run = submit(world)
    (storage.root_of(run.output) / "model.bin").write_bytes(b"123")
    assert [item["size"] for item in alice.get(f"{RUNS}{run.pk}/outputs/").json()] == [3]
    answer = alice.get(f"{RUNS}{run.pk}/outputs/file/?path=model.bin")
    assert b"".join(answer) == b"123"
    assert alice.get(f"{RUNS}{run.pk}/outputs/?path=nothing").status_code == 404
    assert alice.get(f"{RUNS}{run.pk}/outputs/file/?path=../x").status_code == 400


@pytest.mark.parametrize("query", ["offset=-1", "offset=x", "limit=%C2%B2", "attempt=" + "9" * 30])
def test_a_log_offset_is_a_whole_number(world: World, alice: Client, query: str) -> None:
    assert alice.get(f"{RUNS}{submit(world).pk}/log/?{query}").status_code == 400


def test_a_log_says_where_to_go_on(world: World, alice: Client) -> None:
    answer = alice.get(f"{RUNS}{submit(world).pk}/log/")
    assert (answer.content, answer.headers["X-Next-Offset"], answer.headers["X-Complete"]) == (b"", "0", "false")


def test_measurements(world: World, alice: Client) -> None:
    run = submit(world)
    series = alice.get(f"{RUNS}{run.pk}/metrics/memory/").json()
    assert series == [{"name": "Memory", "unit": "GiB", "limit": 0.5, "points": []}]
    assert alice.get(f"{RUNS}{run.pk}/metrics/memory/?since=x").status_code == 400
    assert alice.get(f"{RUNS}{run.pk}/metrics/nonsense/").status_code == 404


def test_the_cost_of_what_never_ran_is_nothing(world: World, alice: Client) -> None:
    run = submit(world)
    cost = alice.get(f"{RUNS}{run.pk}/cost/").json()
    assert (cost["charged_fen"], cost["settled"], cost["rate_fen_per_hour"]) == (0, False, None)
    post(alice, f"{RUNS}{run.pk}/stop/")
    assert alice.get(f"{RUNS}{run.pk}/cost/").json()["settled"] is True


def test_a_quote_changes_nothing(world: World, alice: Client) -> None:
    answer = post(alice, "/api/v1/training/quote/", {"package": world.package.pk}).json()
    assert (answer["hold_fen"], answer["can_start"], answer["starts_now"]) == (360, True, True)
    assert answer["rate_fen_per_hour"] == "360.0000000000"
    assert (answer["contract"]["kind"], answer["contract"]["may_be_asked"]) == ("over_guarantee", True)
    sure = post(alice, "/api/v1/training/quote/", {"package": world.package.pk, "preemptible": False, "priority": 1})
    assert (sure.json()["contract"]["kind"], sure.json()["contract"]["priority"]) == ("uninterruptible", 1)
    assert post(alice, "/api/v1/training/quote/", {"package": "x"}).status_code == 400
    assert post(alice, "/api/v1/training/quote/", {"package": 999_999}).status_code == 400
    assert total() == 0


def test_uploaded_code_is_run(world: World, alice: Client) -> None:
    answer = alice.post("/api/v1/training/code/", {"files": [SimpleUploadedFile("train.py", b"print(1)")]})
    assert answer.status_code == 201
    assert answer.json()["files"] == ["train.py"]
    body = body_for(world, code=answer.json()["folder"])
    del body["text"]
    assert post(alice, RUNS, body).status_code == 201
    assert alice.post("/api/v1/training/code/", {}).status_code == 400
    # A run uses the folder now, so nothing may be added to it.
    more = {"files": [SimpleUploadedFile("b.py", b"1")], "folder": answer.json()["folder"]}
    assert alice.post("/api/v1/training/code/", more).status_code == 409


def test_images_are_listed(world: World, alice: Client) -> None:
    [image] = alice.get("/api/v1/images/").json()["results"]
    assert (image["key"], image["architectures"], image["size_bytes"], image["last_run_at"]) == (
        "python",
        [],
        None,
        None,
    )
    run = submit(world)
    with acting(world.actor):
        Workload.objects.filter(pk=run.workload_id).update(started_at=run.workload.created_at)
    [image] = alice.get("/api/v1/images/").json()["results"]
    assert parse_datetime(image["last_run_at"]) == run.workload.created_at


def test_the_list_pages_by_cursor(world: World, alice: Client) -> None:
    for _ in range(3):
        submit(world)
    first = alice.get(f"{RUNS}?page_size=2").json()
    assert len(first["results"]) == 2
    assert len(alice.get(first["next"]).json()["results"]) == 1
    assert alice.get(f"{RUNS}?cursor=nonsense").status_code == 400
    assert alice.get(f"{RUNS}?status=failed").json()["results"] == []
