"""MLflow's protocol as its client reads it: errors in its shape, what is not supported in words, other runs unseen."""

import json
from typing import Any

import pytest
from django.test import Client

from apps.common.scoping import acting
from apps.tracking.run_tokens import token_of
from apps.workloads.models import Attempt, Workload
from tests.builders import World, platform, submit_workload
from tests.tracking.kit import AT, kept, ramp, record

MS = int(AT * 1000)


@pytest.fixture
def attempt(world: World, workload: Workload) -> Attempt:
    with acting(platform()):
        made: Attempt = Attempt.objects.create(
            organisation_id=workload.organisation_id, workload=workload, number=1, node=world.node
        )
    return made


class Program:
    """Calls as the program of an attempt."""

    def __init__(self, client: Client, attempt: Attempt) -> None:
        self.client, self.token = client, f"Bearer {token_of(attempt.pk)}"

    def post(self, call: str, **body: Any) -> Any:
        url = f"/api/2.0/mlflow/{call}"
        return self.client.post(url, json.dumps(body), "application/json", HTTP_AUTHORIZATION=self.token)

    def get(self, call: str, **query: Any) -> Any:
        return self.client.get(f"/api/2.0/mlflow/{call}", query, HTTP_AUTHORIZATION=self.token)


@pytest.fixture
def program(client: Client, attempt: Attempt) -> Program:
    return Program(client, attempt)


def metric(key: str = "loss", value: Any = 0.5, step: Any = 0) -> dict[str, Any]:
    return {"key": key, "value": value, "timestamp": MS, "step": step}


def test_a_batch_is_taken_whole_or_not_at_all(program: Program, workload: Workload) -> None:
    run = workload.pk.hex
    body = {"metrics": [metric(), metric(value="NaN", step="1")], "params": [{"key": "lr", "value": "0.1"}]}
    assert program.post("runs/log-batch", run_id=run, **body).json() == {}
    answer = program.post("runs/log-batch", run_id=run, metrics=[metric()], params=[{"key": "lr", "value": "2"}])
    assert (answer.status_code, answer.json()["error_code"]) == (400, "INVALID_PARAMETER_VALUE")
    assert "written once" in answer.json()["message"]
    assert kept(workload.pk).steps.tolist() == [0, 1]
    shown = program.get("runs/get", run_id=run).json()["run"]
    assert shown["data"]["metrics"] == [{"key": "loss", "value": "NaN", "timestamp": MS, "step": 1}]
    assert shown["data"]["params"] == [{"key": "lr", "value": "0.1"}]
    assert shown["info"]["status"] == "SCHEDULED"


def test_what_a_program_asks_of_another_run_is_not_there(program: Program, world: World) -> None:
    with acting(world.actor):
        other = submit_workload(world)
    record(other.pk, ramp(1))
    for answer in (
        program.get("runs/get", run_id=other.pk.hex),
        program.get("runs/get", run_id="nonsense"),
        program.post("runs/log-metric", run_id=other.pk.hex, **metric()),
        program.post("runs/create", experiment_id="0", tags=[{"key": "mlflow.parentRunId", "value": other.pk.hex}]),
    ):
        assert (answer.status_code, answer.json()["error_code"]) == (404, "RESOURCE_DOES_NOT_EXIST")
    assert program.post("runs/search", experiment_ids=["0"]).json() == {"runs": []}


@pytest.mark.parametrize(
    "call", ["logged-models/m-1/artifacts", "traces/search", "registered-models/create", "runs/restore"]
)
def test_what_is_not_supported_says_so(program: Program, call: str) -> None:
    answer = program.post(call)
    assert (answer.status_code, answer.json()["error_code"]) == (400, "NOT_IMPLEMENTED")
    assert call in answer.json()["message"]


def test_wrong_fields_are_named(program: Program, workload: Workload) -> None:
    answer = program.post("runs/log-metric", run_id=workload.pk.hex, key="loss", value="much", timestamp=MS)
    assert answer.json()["error_code"] == "INVALID_PARAMETER_VALUE"
    assert answer.json()["message"].startswith("value:")


def test_nobody_without_a_token_is_answered(client: Client, workload: Workload) -> None:
    answer = client.get("/api/2.0/mlflow/runs/get", {"run_id": workload.pk.hex})
    assert (answer.status_code, answer.json()["error_code"]) == (401, "UNAUTHENTICATED")


def test_history_comes_in_pages_across_merges(program: Program, workload: Workload) -> None:
    record(workload.pk, ramp(25))
    found: list[int] = []
    token: dict[str, Any] = {}
    while True:
        page = program.get("metrics/get-history", run_id=workload.pk.hex, metric_key="loss", max_results=10, **token)
        found += [each["step"] for each in page.json()["metrics"]]
        if "next_page_token" not in page.json():
            break
        token = {"page_token": page.json()["next_page_token"]}
    assert found == list(range(25))
