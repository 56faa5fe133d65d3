"""Who may log and read over the API: a run's program by its token, people by their rights."""

import json
from typing import Any

import pytest
from django.test import Client

from apps.common.clock import db_now
from apps.common.scoping import acting
from apps.tracking.run_tokens import grant_of, token_of
from apps.workloads.models import Attempt, Workload
from tests.builders import World, platform, submit_workload
from tests.tracking.kit import AT, ramp, record


@pytest.fixture
def attempt(world: World, workload: Workload) -> Attempt:
    with acting(platform()):
        made: Attempt = Attempt.objects.create(
            organisation_id=workload.organisation_id, workload=workload, number=1, node=world.node
        )
    return made


def program(attempt: Attempt) -> dict[str, Any]:
    return {"HTTP_AUTHORIZATION": f"Bearer {token_of(attempt.pk)}"}


def send(client: Client, run: Any, body: dict[str, Any], **headers: Any) -> Any:
    return client.post(
        f"/api/v1/tracking/runs/{run}/log/", json.dumps(body), content_type="application/json", **headers
    )


POINTS = [{"name": "loss", "value": 0.5, "at": AT}, {"name": "loss", "value": "NaN", "at": AT, "step": 7}]


def test_a_program_logs_to_its_own_run_and_reads_it(client: Client, attempt: Attempt) -> None:
    run = attempt.workload_id
    body = {"points": POINTS, "parameters": {"lr": "0.1"}, "tags": {"a": "b"}, "sender": "x", "number": 1}
    assert send(client, run, body, **program(attempt)).json() == {"points": 2, "repeated": False}
    assert send(client, run, body, **program(attempt)).json() == {"points": 0, "repeated": True}
    base, own = f"/api/v1/tracking/runs/{run}", program(attempt)
    (metric,) = client.get(f"{base}/metrics/", **own).json()
    assert (metric["name"], metric["count"], metric["last"], metric["least"]) == ("loss", 2, "NaN", 0.5)
    page = client.get(f"{base}/points/?name=loss&most=1", **own).json()
    assert (page["count"], page["next"], page["points"]) == (2, 1, [{"step": 0, "at": AT, "value": 0.5}])
    assert client.get(f"{base}/points/?name=loss&after=1", **own).json()["points"][0]["value"] == "NaN"
    (curve,) = client.get(f"{base}/chart/?name=loss", **own).json()
    assert (curve["odd_count"], len(curve["buckets"]), curve["marks"]) == (1, 1, [{"x": 7.0, "value": "NaN"}])
    assert client.get(f"{base}/notes/", **own).json() == {"parameters": {"lr": "0.1"}, "tags": {"a": "b"}}


def test_a_program_reaches_no_other_run_and_nothing_else(client: Client, world: World, attempt: Attempt) -> None:
    with acting(world.actor):
        other = submit_workload(world)
    assert send(client, other.pk, {"points": POINTS}, **program(attempt)).status_code == 404
    for url in (f"/api/v1/tracking/runs/{other.pk}/metrics/", f"/api/v1/tracking/runs/{other.pk}/notes/"):
        assert client.get(url, **program(attempt)).status_code == 404
    for url in ("/api/v1/training/runs/", "/api/v1/secrets/", "/api/v1/account/"):
        assert client.get(url, **program(attempt)).status_code in (401, 403, 404)


def test_a_token_ends_with_its_attempt(client: Client, attempt: Attempt) -> None:
    assert grant_of(token_of(attempt.pk)) is not None
    with acting(platform()):
        Attempt.objects.filter(pk=attempt.pk).update(ended_at=db_now())
    assert grant_of(token_of(attempt.pk)) is None
    answer = send(client, attempt.workload_id, {"points": POINTS}, **program(attempt))
    assert (answer.status_code, answer.json()["detail"]) == (401, "The attempt of this token has ended.")


def test_a_token_cannot_be_made_up(attempt: Attempt) -> None:
    token = token_of(attempt.pk)
    for wrong in (token[:-1] + ("0" if token[-1] != "0" else "1"), token + "é", "plsrun_", "plsrun_x_y", token[7:]):
        assert grant_of(wrong) is None


def test_people_read_with_their_own_rights(alice: Client, bob: Client, charlie: Client, workload: Workload) -> None:
    record(workload.pk, ramp(3))
    url = f"/api/v1/tracking/runs/{workload.pk}/metrics/"
    assert alice.get(url).json()[0]["count"] == 3
    assert bob.get(url).status_code == 404
    assert charlie.get(url).status_code == 404


def test_what_is_wrong_is_said_by_its_field_and_changes_nothing(client: Client, attempt: Attempt) -> None:
    run, own = attempt.workload_id, program(attempt)
    send(client, run, {"parameters": {"lr": "0.1"}}, **own)
    answer = send(client, run, {"points": POINTS, "parameters": {"lr": "0.2"}}, **own)
    assert (answer.status_code, answer.json()["code"]) == (409, "parameter_set")
    answer = send(client, run, {"points": [*POINTS, {"name": "a\nb", "value": 1, "at": AT}]}, **own)
    assert (answer.status_code, list(answer.json()["fields"])) == (400, ["points.2.name"])
    assert client.get(f"/api/v1/tracking/runs/{run}/metrics/", **own).json() == []
