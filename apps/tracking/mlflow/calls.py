"""What each call of MLflow's protocol does; `CALLS` names them by method and path."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any
from uuid import UUID

from django.db import transaction
from django.utils.translation import gettext as _

from apps.common.clock import db_now
from apps.common.errors import Invalid, NotFound
from apps.storage.safe_open import split_path
from apps.tenants.models import Organisation
from apps.tracking import artifacts, nesting, notes, raw, services
from apps.tracking.choices import RunStatus
from apps.tracking.mlflow import filters, models, shapes
from apps.tracking.mlflow.asked import Asked, run_id_of
from apps.tracking.mlflow.errors import NotSupported
from apps.tracking.models import TrackedRun
from apps.tracking.points import Point
from apps.tracking.reach import Reach

Call = Callable[[Reach, Asked], Mapping[str, Any]]
MOST_RUNS = 1_000
MOST_HISTORY = 25_000


def get_experiment(reach: Reach, asked: Asked) -> dict[str, Any]:
    if asked.text("experiment_id") != shapes.EXPERIMENT:
        raise NotFound
    return {"experiment": shapes.experiment(_organisation(reach))}


def get_experiment_by_name(reach: Reach, asked: Asked) -> dict[str, Any]:
    """Programs name experiments as they like: to the program of a run, each name is the organisation's experiment."""
    name = asked.text("experiment_name")
    if reach.grant is None and name != _organisation(reach):
        raise NotFound
    return {"experiment": shapes.experiment(name)}


def create_experiment(reach: Reach, asked: Asked) -> dict[str, Any]:
    asked.text("name")
    if reach.grant is None:
        raise NotSupported(_("An organisation is one experiment; there is no need to make others."))
    return {"experiment_id": shapes.EXPERIMENT}


def search_experiments(reach: Reach, asked: Asked) -> dict[str, Any]:
    return {"experiments": [shapes.experiment(_organisation(reach))]}


def create_run(reach: Reach, asked: Asked) -> dict[str, Any]:
    """A run nested in the program's own."""
    if reach.grant is None:
        raise NotSupported(
            _("Runs begin as work on the platform, not here."),
            hint=_("Start a training run; its program finds MLFLOW_TRACKING_URI and MLFLOW_RUN_ID set."),
        )
    tags = dict(each.pair() for each in asked.several("tags"))
    parent = tags.pop(shapes.PARENT, "")
    name = asked.text("run_name", "") or tags.get(shapes.NAME, "")
    with transaction.atomic():
        run = nesting.begin(
            workload_id=reach.grant.workload_id,
            parent_id=run_id_of(parent) if parent else None,
            name=name,
            started_at=asked.moment("start_time") or db_now(),
        )
        if tags:
            notes.set_tags(run_id=run.pk, values=tags)
    return {"run": _shown(reach, run.pk)}


def update_run(reach: Reach, asked: Asked) -> dict[str, Any]:
    run_id = reach.writable(asked.run_id())
    words = asked.text("status", "")
    if words and words not in RunStatus:
        raise Invalid.field("status", _("There is no status “%(status)s”.") % {"status": words[:40]})
    nesting.update(
        run_id=run_id,
        name=asked.text("run_name", "") or None,
        status=RunStatus(words) if words else None,
        ended_at=asked.moment("end_time"),
    )
    return {"run_info": _shown(reach, run_id)["info"]}


def get_run(reach: Reach, asked: Asked) -> dict[str, Any]:
    return {"run": _shown(reach, reach.readable(asked.run_id()))}


def search_runs(reach: Reach, asked: Asked) -> dict[str, Any]:
    if shapes.EXPERIMENT not in asked.texts("experiment_ids"):
        return {"runs": []}
    if asked.text("run_view_type", "ACTIVE_ONLY") == "DELETED_ONLY":
        return {"runs": []}
    most, start = _page(asked, MOST_RUNS, MOST_RUNS)
    rows = filters.narrowed(reach.runs(), filters.parse(asked.text("filter", "")))
    found = list(filters.ordered(rows, asked.texts("order_by"))[start : start + most + 1])
    return _with_next({"runs": shapes.runs(found[:most])}, start + most, len(found) > most)


def delete_run(reach: Reach, asked: Asked) -> dict[str, Any]:
    reach.readable(asked.run_id())
    raise NotSupported(_("Runs are deleted on their page, with their files and logs."))


def log_metric(reach: Reach, asked: Asked) -> dict[str, Any]:
    run_id = reach.writable(asked.run_id())
    if points := _new_points(run_id, [asked]):
        services.add_points(run_id=run_id, points=points)
    return {}


def log_parameter(reach: Reach, asked: Asked) -> dict[str, Any]:
    notes.set_parameters(run_id=reach.writable(asked.run_id()), values=dict([asked.pair()]))
    return {}


def set_tag(reach: Reach, asked: Asked) -> dict[str, Any]:
    notes.set_tags(run_id=reach.writable(asked.run_id()), values=dict([asked.pair()]))
    return {}


def delete_tag(reach: Reach, asked: Asked) -> dict[str, Any]:
    if not notes.delete_tag(run_id=reach.writable(asked.run_id()), name=asked.text("key")):
        raise NotFound
    return {}


def log_batch(reach: Reach, asked: Asked) -> dict[str, Any]:
    """All of it or nothing."""
    run_id = reach.writable(asked.run_id())
    points = _new_points(run_id, asked.several("metrics"))
    parameters, tags = ([each.pair() for each in asked.several(name)] for name in ("params", "tags"))
    with transaction.atomic():
        if points:
            services.add_points(run_id=run_id, points=points)
        if parameters:
            notes.set_parameters(run_id=run_id, values=dict(parameters))
        if tags:
            notes.set_tags(run_id=run_id, values=dict(tags))
    return {}


def _new_points(run_id: UUID, metrics: Sequence[Asked]) -> list[Point]:
    """A client that logs a model sends the run's points once more, as the model's: those are here already."""
    sent = [(each.point(), bool(each.fields.get("model_id"))) for each in metrics]
    return [point for point, again in sent if not (again and raw.holds(run_id, point))]


def log_inputs(reach: Reach, asked: Asked) -> dict[str, Any]:
    run_id = reach.writable(asked.run_id())
    notes.add_inputs(run_id=run_id, inputs=[dict(each.fields) for each in asked.several("datasets")])
    return {}


def history(reach: Reach, asked: Asked) -> dict[str, Any]:
    key, run_id = asked.text("metric_key"), reach.readable(asked.run_id())
    most, start = _page(asked, MOST_HISTORY, MOST_HISTORY)
    page = raw.page(run_id, key, after=start, most=most)
    found = {"metrics": shapes.history(key, page.points)}
    return _with_next(found, start + most, start + most < page.count)


def bulk_history(reach: Reach, asked: Asked) -> dict[str, Any]:
    key, most = asked.text("metric_key"), _page(asked, MOST_HISTORY, MOST_HISTORY)[0]
    found: list[dict[str, Any]] = []
    for run_id in asked.texts("run_id"):
        points = raw.page(reach.readable(run_id_of(run_id)), key, after=0, most=most).points
        found += [{**each, "run_id": run_id} for each in shapes.history(key, points)]
    return {"metrics": found[:most]}


def list_artifacts(reach: Reach, asked: Asked) -> dict[str, Any]:
    run_id, path = asked.run_id(), asked.text("path", "")
    place = artifacts.place_of(reach.workload_of(run_id), run_id)
    prefix = "".join(f"{name}/" for name in split_path(path))
    files = [shapes.artifact(each, prefix + each.name) for each in artifacts.listing(place, path)]
    return {"root_uri": shapes.artifact_uri(run_id), "files": files}


def _organisation(reach: Reach) -> str:
    name: str = Organisation.objects.values_list("name", flat=True).get(pk=reach.actor.organisation())
    return name


def _shown(reach: Reach, run_id: UUID) -> dict[str, Any]:
    """The program of a run may ask for it before anything was said of it: then there is no row yet."""
    row = reach.runs().filter(pk=run_id).first()
    if row is None:
        workload = reach.workload(run_id)
        if workload is None:
            raise NotFound
        row = TrackedRun(pk=run_id, workload=workload, organisation_id=workload.organisation_id, name="", inputs=[])
    return shapes.runs([row])[0]


def _page(asked: Asked, usual: int, largest: int) -> tuple[int, int]:
    """How many, and from which on: a page's token is the number of the first."""
    most, start = asked.whole("max_results", usual), asked.whole("page_token", 0)
    if most < 1 or not 0 <= start < 2**40:
        raise Invalid.field("page_token", _("This is not a page of this list."))
    return min(most, largest), start


def _with_next(found: dict[str, Any], start: int, more: bool) -> dict[str, Any]:
    return {**found, "next_page_token": str(start)} if more else found


CALLS: dict[tuple[str, str], Call] = {
    ("GET", "experiments/get"): get_experiment,
    ("GET", "experiments/get-by-name"): get_experiment_by_name,
    ("POST", "experiments/create"): create_experiment,
    ("POST", "experiments/search"): search_experiments,
    ("GET", "experiments/search"): search_experiments,
    ("POST", "runs/create"): create_run,
    ("POST", "runs/update"): update_run,
    ("GET", "runs/get"): get_run,
    ("POST", "runs/search"): search_runs,
    ("POST", "runs/delete"): delete_run,
    ("POST", "runs/log-metric"): log_metric,
    ("POST", "runs/log-batch"): log_batch,
    ("POST", "runs/log-parameter"): log_parameter,
    ("POST", "runs/set-tag"): set_tag,
    ("POST", "runs/delete-tag"): delete_tag,
    ("POST", "runs/log-inputs"): log_inputs,
    ("POST", "runs/outputs"): models.log_outputs,
    ("POST", "logged-models"): models.create,
    ("POST", "logged-models/search"): models.search,
    ("GET", "artifacts/list"): list_artifacts,
    ("GET", "metrics/get-history"): history,
    ("GET", "metrics/get-history-bulk"): bulk_history,
}
