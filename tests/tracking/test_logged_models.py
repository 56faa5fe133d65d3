"""Models as MLflow 3 logs them: kept beside their files, found by an id that names the run, changed by its program."""

import json
from pathlib import Path
from typing import Any

import pytest

from apps.storage.services import root_of
from apps.tracking import logged_models
from apps.tracking.mlflow import models
from apps.training.models import Run
from tests.tracking.kit import AT, kept
from tests.tracking.test_artifacts import Caller, attempt, person, program, run

__all__ = ["attempt", "person", "program", "run"]  # the fixtures

BASE = "/api/2.0/mlflow"


def ask(program: Caller, method: str, call: str, **body: Any) -> Any:
    send = getattr(program.client, method)
    return send(f"{BASE}/{call}", json.dumps(body), "application/json", HTTP_AUTHORIZATION=program.token)


def get(program: Caller, call: str) -> Any:
    return program.client.get(f"{BASE}/{call}", HTTP_AUTHORIZATION=program.token)


@pytest.fixture
def model(program: Caller, run: Run) -> dict[str, Any]:
    asked = {"name": "iris", "source_run_id": run.workload_id.hex, "params": [{"key": "c", "value": "1"}]}
    made: dict[str, Any] = ask(program, "post", "logged-models", experiment_id="0", **asked).json()["model"]["info"]
    return made


def test_a_model_is_made_filled_and_finished(program: Caller, run: Run, model: dict[str, Any]) -> None:
    path = f"models/{model['model_id']}"
    assert model["artifact_uri"] == f"mlflow-artifacts:/{run.workload_id.hex}/{path}"
    assert model["status"] == logged_models.PENDING
    assert program.put(f"{path}/MLmodel", b"flavors").status_code == 200
    call = f"logged-models/{model['model_id']}"
    assert ask(program, "patch", call, status=logged_models.READY).status_code == 200
    ask(program, "patch", f"{call}/tags", tags=[{"key": "a", "value": "1"}, {"key": "b", "value": "2"}])
    ask(program, "delete", f"{call}/tags/a")
    ask(program, "post", f"{call}/params", params=[{"key": "d", "value": "2"}])
    shown = get(program, call).json()["model"]
    assert (shown["info"]["name"], shown["info"]["status"]) == ("iris", logged_models.READY)
    assert shown["info"]["tags"] == [{"key": "b", "value": "2"}]
    assert shown["data"]["params"] == [{"key": "c", "value": "1"}, {"key": "d", "value": "2"}]
    assert (root_of(run.output) / "artifacts" / path / "MLmodel").read_bytes() == b"flavors"


def test_what_is_wrong_changes_nothing(program: Caller, model: dict[str, Any]) -> None:
    call = f"logged-models/{model['model_id']}"
    assert ask(program, "patch", call, status="DONE").json()["error_code"] == "INVALID_PARAMETER_VALUE"
    large = [{"key": f"k{number}", "value": "x" * 6000} for number in range(180)]
    assert "1 MiB" in ask(program, "post", f"{call}/params", params=large).json()["message"]
    assert ask(program, "delete", call).json()["error_code"] == "NOT_IMPLEMENTED"
    shown = get(program, call).json()["model"]
    assert shown["info"]["status"] == logged_models.PENDING
    assert shown["data"]["params"] == [{"key": "c", "value": "1"}]


@pytest.mark.parametrize("text", ["", "[]", "{", '{"name": "x"}', "[" * 5000])
def test_a_file_that_its_program_has_broken_is_no_model(
    program: Caller, run: Run, model: dict[str, Any], text: str
) -> None:
    path: Path = root_of(run.output) / "artifacts" / "models" / f"{model['model_id']}.json"
    path.write_text(text)
    assert get(program, f"logged-models/{model['model_id']}").status_code == 404


def test_models_are_found_by_name(program: Caller, model: dict[str, Any], monkeypatch: pytest.MonkeyPatch) -> None:
    def found(text: str) -> list[str]:
        names, token = [], {}
        while True:
            page = ask(program, "post", "logged-models/search", experiment_ids=["0"], filter=text, **token).json()
            names += [each["info"]["name"] for each in page["models"]]
            if "next_page_token" not in page:
                return names
            token = {"page_token": page["next_page_token"]}

    parent = {"key": "mlflow.parentRunId", "value": model["source_run_id"]}
    inside = ask(program, "post", "runs/create", experiment_id="0", tags=[parent]).json()["run"]["info"]["run_id"]
    ask(program, "post", "logged-models", name="other", source_run_id=inside)
    monkeypatch.setattr(models, "RUNS_AT_ONCE", 1)
    assert found("") == ["other", "iris"]
    assert found("name = 'iris'") == ["iris"]
    assert found("attributes.name='none'") == []
    answer = ask(program, "post", "logged-models/search", experiment_ids=["0"], filter="metrics.loss < 1")
    assert answer.json()["error_code"] == "NOT_IMPLEMENTED"


@pytest.mark.parametrize("name", ["m-1", "..", "m-" + "0" * 44])
def test_another_runs_model_is_not_there(program: Caller, name: str) -> None:
    assert get(program, f"logged-models/{name}").status_code == 404


def test_points_that_come_again_for_a_model_are_not_doubled(program: Caller, run: Run, model: dict[str, Any]) -> None:
    first = {"key": "loss", "value": 0.5, "timestamp": int(AT * 1000), "step": 0}
    again = {**first, "model_id": model["model_id"]}
    new = {**again, "step": 1}
    odd = {**again, "key": "odd", "value": "NaN"}
    for metrics in ([first], [again, new], [odd], [odd]):
        answer = ask(program, "post", "runs/log-batch", run_id=run.workload_id.hex, metrics=metrics)
        assert answer.json() == {}
    assert kept(run.workload_id).steps.tolist() == [0, 1]
    assert len(kept(run.workload_id, "odd")) == 1
