"""What MLflow 3 asks of a model that a program logs; `found` gives the call for a method and path."""

import re
from collections.abc import Callable
from typing import Any
from uuid import UUID

from django.utils.translation import gettext as _

from apps.common.errors import Invalid
from apps.tracking import artifacts, logged_models
from apps.tracking.artifacts import Place
from apps.tracking.logged_models import LoggedModel
from apps.tracking.mlflow import shapes
from apps.tracking.mlflow.asked import Asked, run_id_of
from apps.tracking.mlflow.errors import NotSupported
from apps.tracking.models import TrackedRun
from apps.tracking.reach import Reach

PREFIX = "logged-models/"
RUNS_AT_ONCE = 200
_NAMED = re.compile(r"""(?:attributes?\.)?name\s*=\s*(['"])(.*)\1""", re.DOTALL)
Call = Callable[[Reach, Asked], dict[str, Any]]


def create(reach: Reach, asked: Asked) -> dict[str, Any]:
    source = asked.text("source_run_id", "")
    if not source and reach.grant is None:
        raise NotSupported(_("Models are logged in a run here, not outside of one."))
    run_id = run_id_of(source) if source or reach.grant is None else reach.grant.workload_id
    place, admit = _writable(reach, run_id)
    made = logged_models.create(
        place,
        run_id=run_id,
        name=asked.text("name", "") or "model",
        kind=asked.text("model_type", ""),
        tags=_pairs(asked, "tags"),
        parameters=_pairs(asked, "params"),
        admit=admit,
    )
    return _shown(made)


def get(reach: Reach, asked: Asked) -> dict[str, Any]:
    run_id = logged_models.run_of(asked.text("model_id"))
    return _shown(logged_models.get(artifacts.place_of(reach.workload_of(run_id), run_id), asked.text("model_id")))


def search(reach: Reach, asked: Asked) -> dict[str, Any]:
    """Page by page of runs, newest first: a page may have no model and yet not be the last."""
    if shapes.EXPERIMENT not in asked.texts("experiment_ids"):
        return {"models": []}
    name, start = _asked_name(asked), asked.whole("page_token", 0)
    if not 0 <= start < 2**40:
        raise Invalid.field("page_token", _("This is not a page of this list."))
    runs = list(reach.runs().order_by("-created_at", "-pk")[start : start + RUNS_AT_ONCE + 1])
    models = [model for run in runs[:RUNS_AT_ONCE] for model in _models_of(run) if name in (None, model.name)]
    answer = {"models": [_shown(model)["model"] for model in models]}
    return answer if len(runs) <= RUNS_AT_ONCE else {**answer, "next_page_token": str(start + RUNS_AT_ONCE)}


def _asked_name(asked: Asked) -> str | None:
    """Clients ask for a name when they list artifacts. None: any."""
    text = asked.text("filter", "").strip()
    found = _NAMED.fullmatch(text)
    if (text and found is None) or asked.fields.get("order_by") or asked.fields.get("datasets"):
        raise NotSupported(_("Logged models are found by their name alone here: name = 'model'."))
    return None if found is None else found[2]


def _models_of(run: TrackedRun) -> list[LoggedModel]:
    try:
        return logged_models.every(artifacts.place_of(run.workload, run.pk))
    except artifacts.NoOutput:
        return []


def finalize(reach: Reach, asked: Asked) -> dict[str, Any]:
    return _shown(_changed(reach, asked, status=asked.text("status")))


def set_tags(reach: Reach, asked: Asked) -> dict[str, Any]:
    return _shown(_changed(reach, asked, tags=_pairs(asked, "tags")))


def delete_tag(reach: Reach, asked: Asked) -> dict[str, Any]:
    _changed(reach, asked, tags={asked.text("tag_key"): None})
    return {}


def set_parameters(reach: Reach, asked: Asked) -> dict[str, Any]:
    _changed(reach, asked, parameters=_pairs(asked, "params"))
    return {}


def delete(reach: Reach, asked: Asked) -> dict[str, Any]:
    get(reach, asked)
    raise NotSupported(_("Artifacts are deleted with their run, on its page."))


def log_outputs(reach: Reach, asked: Asked) -> dict[str, Any]:
    """Which models a run has put out is known: they lie in its output."""
    reach.writable(asked.run_id())
    return {}


CALLS: dict[tuple[str, str], Call] = {
    ("GET", ""): get,
    ("PATCH", ""): finalize,
    ("DELETE", ""): delete,
    ("PATCH", "tags"): set_tags,
    ("POST", "params"): set_parameters,
}


def found(method: str, path: str) -> tuple[Call, dict[str, str]] | None:
    """The call, and what the path says to it."""
    if not path.startswith(PREFIX) or path == f"{PREFIX}search":
        return None
    model_id, _slash, rest = path.removeprefix(PREFIX).partition("/")
    if method == "DELETE" and rest.startswith("tags/"):
        return delete_tag, {"model_id": model_id, "tag_key": rest.removeprefix("tags/")}
    call = CALLS.get((method, rest))
    return None if call is None else (call, {"model_id": model_id})


def _writable(reach: Reach, run_id: UUID) -> tuple[Place, Callable[[], None]]:
    workload = reach.workload_of(run_id)
    return artifacts.place_of(workload, run_id), lambda: reach.admit_files(workload)


def _changed(reach: Reach, asked: Asked, **changes: Any) -> LoggedModel:
    model_id = asked.text("model_id")
    place, admit = _writable(reach, logged_models.run_of(model_id))
    return logged_models.change(place, model_id, admit=admit, **changes)


def _pairs(asked: Asked, name: str) -> dict[str, str]:
    return dict(each.pair() for each in asked.several(name))


def _shown(model: LoggedModel) -> dict[str, Any]:
    run_id = logged_models.run_of(model.id)
    info = {
        "model_id": model.id,
        "experiment_id": shapes.EXPERIMENT,
        "name": model.name,
        "model_type": model.kind,
        "source_run_id": run_id.hex,
        "artifact_uri": f"{shapes.artifact_uri(run_id)}/{model.folder}",
        "status": model.status,
        "creation_timestamp_ms": model.created_ms,
        "last_updated_timestamp_ms": model.updated_ms,
        "tags": shapes.pairs(model.tags),
    }
    return {"model": {"info": info, "data": {"params": shapes.pairs(model.parameters)}}}
