"""Starting an experiment: the form, what it would cost, and the start."""

from typing import Any
from uuid import UUID

from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_http_methods, require_POST

from apps.automl import beginning, estimates, selectors, services
from apps.automl.choices import ResumePolicy
from apps.automl.forms import ExperimentForm, initial_of, rows_like
from apps.automl.rows import empty_row
from apps.automl.search.algorithms import Algorithm
from apps.automl.search.early_stopping import EarlyStoppingKind
from apps.automl.search.space import ParameterKind
from apps.automl.starting_values import guessed_rows
from apps.automl.words import KINDS
from apps.common.access import in_organisation, requires
from apps.common.actor import Actor
from apps.common.errors import DomainError, NotFound
from apps.common.pages import REFUSED
from apps.common.permissions import Permission
from apps.common.requests import ActorRequest
from apps.tracking.models import Series
from apps.training import selectors as training
from apps.training.models import Run
from apps.training.placing import PlacedAs
from apps.workloads.launching.form import new_key

SUBMIT = in_organisation(Permission.TRAINING_SUBMIT)
OFFERED_RUNS = 100


@requires(SUBMIT)
@require_http_methods(["GET", "POST"])
def new(request: ActorRequest) -> HttpResponse:
    """GET: `?run=` which run to tune, or `?like=` another experiment. POST: start it."""
    actor = request.actor
    if request.method != "POST":
        return render(request, "tuning/new.html", page(actor, _form(actor, request)))
    form = ExperimentForm(request.POST)
    valid = form.is_valid()
    wanted = form.wanted() if valid else None
    if wanted is not None and not form.has_row_errors:
        try:
            return redirect("tuning:detail", services.create(actor, wanted).pk)
        except DomainError as error:
            form.show(error)
    return render(request, "tuning/new.html", page(actor, form), status=REFUSED)


def _form(actor: Actor, request: ActorRequest) -> ExperimentForm:
    like = request.GET.get("like")
    if like:
        before = selectors.get(actor, _id(like))
        wanted = request.GET.get("run") or str(before.template_id)
        return ExperimentForm(initial={**initial_of(before, _id(wanted)), "key": new_key()}, rows=rows_like(before))
    chosen = request.GET.get("run")
    run = training.get(actor, _id(chosen)) if chosen else training.latest(actor)
    initial = {
        "key": new_key(),
        "run": run.pk if run else None,
        "algorithm": Algorithm.TPE.value,
        "early_stopping": EarlyStoppingKind.NONE.value,
        "resume_policy": ResumePolicy.LONG_RUNNING.value,
        "name": f"{run.name}-tuning"[:80] if run else "",
        "metric": _likely_metric(run),
    }
    return ExperimentForm(initial=initial, rows=guessed_rows(run) if run else [])


def _id(text: str) -> UUID:
    try:
        return UUID(text)
    except ValueError as error:
        raise NotFound from error


def _likely_metric(run: Run | None) -> str:
    known = _metrics(run)
    return next((name for name in known if "val" in name and "loss" in name), known[0] if known else "")


def _metrics(run: Run | None) -> list[str]:
    if run is None:
        return []
    return list(Series.objects.filter(run_id=run.workload_id).order_by("name").values_list("name", flat=True)[:200])


def page(actor: Actor, form: ExperimentForm) -> dict[str, Any]:
    """Everything around the form."""
    run = _run(actor, form)
    form.offer(beginning.offered(actor)[:OFFERED_RUNS])
    return {
        "form": form,
        "run": run,
        "runs": list(training.runs(actor).filter(trial_of__isnull=True, archived_at__isnull=True)[:OFFERED_RUNS]),
        "rows": form.rows or [empty_row()],
        "empty": empty_row(),
        "kinds": [(each.value, KINDS[each]) for each in ParameterKind],
        "placed": PlacedAs.choices,
        "metrics": _metrics(run),
        "arguments": [name for name, _value in run.arguments if name] if run else [],
        **_quote(actor, form, run),
    }


def _run(actor: Actor, form: ExperimentForm) -> Run | None:
    try:
        return training.get(actor, _id(str(form["run"].value() or "")))
    except DomainError:
        return None


@requires(SUBMIT)
@require_POST
def quote(request: ActorRequest) -> HttpResponse:
    """What the form as it stands would cost, complete or not."""
    form = ExperimentForm(request.POST)
    return render(request, "tuning/parts/quote.html", _quote(request.actor, form, _run(request.actor, form)))


def _quote(actor: Actor, form: ExperimentForm, run: Run | None) -> dict[str, Any]:
    if run is None:
        return {"estimate": None}
    trials, parallel = (_typed(form, name) for name in ("most_trials", "parallel"))
    return {"estimate": estimates.estimate(actor, run, trials=trials, parallel=parallel), "run": run}


def _typed(form: ExperimentForm, name: str) -> int:
    try:
        return max(1, min(int(form[name].value() or 1), 1000))
    except (TypeError, ValueError):
        return 1
