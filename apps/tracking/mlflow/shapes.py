"""Runs, experiments and metrics in MLflow's JSON."""

import math
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any
from uuid import UUID

from apps.storage.safe_open import Item
from apps.tracking.choices import RunStatus
from apps.tracking.models import Parameter, Series, TrackedRun, TrackingTag
from apps.tracking.points import Points
from apps.tracking.selectors import texts
from apps.workloads.choices import Status
from apps.workloads.models import Workload

EXPERIMENT = "0"
PARENT, NAME, USER = "mlflow.parentRunId", "mlflow.runName", "mlflow.user"
STATUSES = {
    Status.RUNNING: RunStatus.RUNNING,
    Status.STOPPING: RunStatus.RUNNING,
    Status.SUCCEEDED: RunStatus.FINISHED,
    Status.FAILED: RunStatus.FAILED,
    Status.STOPPED: RunStatus.KILLED,
}


def experiment(name: str) -> dict[str, Any]:
    return {
        "experiment_id": EXPERIMENT,
        "name": name,
        "artifact_location": "",
        "lifecycle_stage": "active",
    }


def runs(rows: Sequence[TrackedRun]) -> list[dict[str, Any]]:
    """With last metrics, parameters and tags: three statements for all."""
    ids = [row.pk for row in rows]
    parameters = texts(Parameter.objects.filter(run_id__in=ids))
    tags = texts(TrackingTag.objects.filter(run_id__in=ids))
    metrics: dict[UUID, list[dict[str, Any]]] = {}
    for series in Series.objects.filter(run_id__in=ids, last_value__isnull=False).order_by("name"):
        metrics.setdefault(series.run_id, []).append(_last(series))
    return [
        {
            "info": _info(row),
            "data": {
                "metrics": metrics.get(row.pk, []),
                "params": pairs(parameters.get(row.pk, {})),
                "tags": pairs({**_own_tags(row), **tags.get(row.pk, {})}),
            },
            "inputs": {"dataset_inputs": row.inputs},
        }
        for row in rows
    ]


def artifact_uri(run_id: UUID) -> str:
    """Without a host: clients send what belongs to it to the server at which they log."""
    return f"mlflow-artifacts:/{run_id.hex}"


def artifact(item: Item, path: str) -> dict[str, Any]:
    """A file or folder, which the answer calls `path`."""
    found = {"path": path, "is_dir": item.is_folder}
    return found if item.is_folder else {**found, "file_size": item.size}


def history(key: str, points: Points) -> list[dict[str, Any]]:
    columns = (points.values.tolist(), points.moments.tolist(), points.steps.tolist())
    return [_metric(key, value, moment, step) for value, moment, step in zip(*columns, strict=True)]


def display_name(run: TrackedRun) -> str:
    return run.name or run.workload.name


def status_of(run: TrackedRun) -> RunStatus:
    if run.parent_id is not None:
        return RunStatus(run.status)
    return STATUSES.get(Status(run.workload.status), RunStatus.SCHEDULED)


def _info(run: TrackedRun) -> dict[str, Any]:
    workload: Workload = run.workload
    began = run.started_at if run.parent_id is not None else workload.started_at or workload.created_at
    ended = run.ended_at if run.parent_id is not None else workload.ended_at
    found: dict[str, Any] = {
        "run_id": run.pk.hex,
        "run_uuid": run.pk.hex,
        "run_name": display_name(run),
        "experiment_id": EXPERIMENT,
        "user_id": workload.owner.username,
        "status": status_of(run).value,
        "start_time": _milliseconds(began),
        "artifact_uri": artifact_uri(run.pk),
        "lifecycle_stage": "active",
    }
    return found if ended is None else {**found, "end_time": _milliseconds(ended)}


def _own_tags(run: TrackedRun) -> dict[str, str]:
    tags = {NAME: display_name(run), USER: run.workload.owner.username}
    return tags if run.parent_id is None else {**tags, PARENT: run.parent_id.hex}


def _last(series: Series) -> dict[str, Any]:
    value = math.nan if series.last_value is None else series.last_value
    return _metric(series.name, value, series.last_moment or 0, series.last_step or 0)


def _metric(key: str, value: float, moment: int, step: int) -> dict[str, Any]:
    return {"key": key, "value": number(value), "timestamp": moment // 1000, "step": step}


def number(value: float) -> float | str:
    """JSON has no NaN and no infinities; protobuf reads them from text."""
    if math.isnan(value):
        return "NaN"
    return value if math.isfinite(value) else ("Infinity" if value > 0 else "-Infinity")


def pairs(values: Mapping[str, str]) -> list[dict[str, str]]:
    return [{"key": name, "value": value} for name, value in values.items()]


def _milliseconds(at: datetime) -> int:
    return int(at.timestamp() * 1000)
