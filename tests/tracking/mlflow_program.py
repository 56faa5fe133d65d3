"""What a program does with MLflow's own client; run by the client's interpreter, with the variables of a run."""

import math
import tempfile
from collections.abc import Callable
from pathlib import Path

import mlflow
from mlflow import MlflowClient

with mlflow.start_run() as run:
    mlflow.log_params({"lr": "0.1", "layers": 3})
    mlflow.log_metric("loss", 0.5, step=0)
    mlflow.log_metric("loss", 0.25, step=1)
    mlflow.log_metrics({f"m{number}": float(number) for number in range(1000)}, step=3)
    mlflow.log_metric("odd", math.nan)
    mlflow.set_tag("stage", "try")
    with mlflow.start_run(nested=True, run_name="inside") as inside:
        mlflow.log_metric("loss", 0.125)

client = MlflowClient()
data = client.get_run(run.info.run_id).data
assert data.params == {"lr": "0.1", "layers": "3"}, data.params
assert data.metrics["loss"] == 0.25
assert data.metrics["m999"] == 999
assert math.isnan(data.metrics["odd"])
assert data.tags["stage"] == "try"
history = client.get_metric_history(run.info.run_id, "loss")
assert [(each.step, each.value) for each in history] == [(0, 0.5), (1, 0.25)]
nested = client.get_run(inside.info.run_id)
assert nested.data.tags["mlflow.parentRunId"] == run.info.run_id
assert nested.info.status == "FINISHED"
assert nested.info.run_name == "inside"
found = client.search_runs(["0"], 'metrics.loss < 0.3 and params.lr = "0.1"', order_by=["metrics.loss ASC"])
assert [each.info.run_id for each in found] == [run.info.run_id]


kept = Path(tempfile.mkdtemp()) / "notes.txt"
kept.write_text("words")
client.log_artifact(run.info.run_id, str(kept), "texts")
assert [(each.path, each.is_dir) for each in client.list_artifacts(run.info.run_id)] == [("texts", True)]
assert [each.path for each in client.list_artifacts(run.info.run_id, "texts")] == ["texts/notes.txt"]
assert Path(client.download_artifacts(run.info.run_id, "texts/notes.txt")).read_text() == "words"


def refusal(act: Callable[[], object]) -> mlflow.exceptions.MlflowException:
    try:
        act()
    except mlflow.exceptions.MlflowException as error:
        return error
    raise AssertionError("it was not refused")


twice = refusal(lambda: client.log_param(run.info.run_id, "lr", "0.2"))
assert "written once" in str(twice), twice
assert "deleted on their page" in str(refusal(lambda: client.delete_run(run.info.run_id)))
print("spoken", mlflow.__version__)
