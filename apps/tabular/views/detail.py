"""One search: what was found so far, what explains it, and what was asked."""

from decimal import Decimal
from typing import Any
from uuid import UUID

from django.http import HttpResponse
from django.shortcuts import render
from django.utils.translation import gettext as _
from django.views.decorators.http import require_GET

from apps.billing.consumption.spending import spent_in_all
from apps.common.access import in_organisation, requires
from apps.common.permissions import Permission
from apps.common.plots import Better
from apps.common.requests import ActorRequest
from apps.tabular import charts, selectors
from apps.tabular.choices import Learner, Metric
from apps.tabular.models import TableSearch
from apps.tabular.results import FILES, Results, results_of
from apps.tabular.words import note_words, problem_words, step_words, validation_words
from apps.training import selectors as training
from apps.training.checkpoints import has_any
from apps.training.models import Run

VIEW = in_organisation(Permission.TRAINING_VIEW)
SHOWN_TRIALS, SHOWN_COLUMNS = 25, 20


@requires(VIEW)
@require_GET
def detail(request: ActorRequest, search_id: UUID) -> HttpResponse:
    search = selectors.get(request.actor, search_id)
    run = selectors.run_of(request.actor, search)
    return render(request, "tabular/detail.html", page(request, search, run))


def page(request: ActorRequest, search: TableSearch, run: Run) -> dict[str, Any]:
    results = results_of(run)
    judgement = results.judgement
    live = run.workload.is_live
    return {
        "search": search,
        "run": run,
        "workload": run.workload,
        "results": results,
        "judgement": judgement,
        "board": _board(search, results),
        "left": max(0, len(results.trials) - SHOWN_TRIALS),
        "problem": problem_words(results.problem) if results.problem and not live else "",
        "notes": [words for each in (judgement.notes if judgement else ()) if (words := note_words(each))],
        "steps": [(each, step_words(each.done, each.why)) for each in (judgement.steps if judgement else ())],
        "scores": _scores(results),
        "importance": judgement.importance[:SHOWN_COLUMNS] if judgement else (),
        "objective_chart": charts.objective_chart(search, results),
        "residual_chart": charts.residual_chart(judgement) if judgement and judgement.residuals else None,
        "files": _files(run) if judgement else [],
        "spent_fen": spent_in_all([run.workload_id]).get(run.workload_id, Decimal(0)),
        "asked": _asked(search),
        "resumable": not live and has_any(run),
        "may_act": request.actor.may(Permission.TRAINING_SUBMIT),
        "last_event_id": training.last_event_id(request.actor),
    }


def _board(search: TableSearch, results: Results) -> list[Any]:
    """The best first; what failed last."""
    sign = 1 if charts.better(search) is Better.LOW else -1
    order = sorted(results.trials, key=lambda each: (each.score is None, sign * (each.score or 0.0), each.number))
    return order[:SHOWN_TRIALS]


def _scores(results: Results) -> list[tuple[str, float | None]]:
    if results.judgement is None:
        return []
    labels = dict(Metric.choices)
    return [(str(labels.get(name, name)), value) for name, value in results.judgement.scores]


def _files(run: Run) -> list[str]:
    """Those of them that are there."""
    here = {each.path for each in training.outputs_or_none(run) or ()}
    here |= {each.path for each in training.outputs_or_none(run, "model") or ()}
    return [each for each in FILES if each in here]


def _asked(search: TableSearch) -> list[dict[str, Any]]:
    told, labels = search.settings, dict(Learner.choices)
    learners = ", ".join(str(labels.get(each, each)) for each in told["learners"])
    return [
        {"label": _("Table"), "value": f"{search.dataset_name} v{search.dataset_number}", "sub": search.path},
        {"label": _("Column to predict"), "value": search.target, "sub": search.get_task_display()},
        {"label": _("Metric"), "value": search.get_metric_display()},
        {"label": _("How trials are measured"), "value": validation_words(told)},
        {"label": _("Kept for the last judgement"), "value": f"{100 * told['test']:.0f}%"},
        {"label": _("Minutes to search"), "value": told["minutes"]},
        {"label": _("Learners"), "value": learners},
        {"label": _("Columns left out"), "value": ", ".join(told["left_out"]) or _("none")},
        {"label": _("Seed"), "value": told["seed"]},
    ]
