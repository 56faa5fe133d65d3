"""One experiment: what was found so far, its trials, and what it was started with."""

from decimal import Decimal
from typing import Any
from uuid import UUID

from django.http import HttpResponse
from django.shortcuts import render
from django.utils.translation import gettext as _
from django.utils.translation import ngettext, pgettext
from django.views.decorators.http import require_GET

from apps.automl import beginning, charts, selectors
from apps.automl.choices import ExperimentStatus, ResumePolicy
from apps.automl.measuring import objectives_of, said_instead
from apps.automl.models import Experiment, Trial
from apps.automl.reconcile.asking import early_stopping_of
from apps.automl.search.algorithms import Algorithm
from apps.automl.search.early_stopping import EarlyStoppingKind
from apps.automl.search.space import Parameter, Space
from apps.automl.timeline import timeline
from apps.automl.words import ALGORITHMS, KINDS, RESUMING, SETTING_LABELS, aim, why_ended, why_waiting
from apps.common.access import in_organisation, requires
from apps.common.permissions import Permission
from apps.common.requests import ActorRequest
from apps.training import selectors as training
from apps.training.placing import Placement, text_of

VIEW = in_organisation(Permission.TRAINING_VIEW)
TABS = ("overview", "trials", "analysis", "settings")


@requires(VIEW)
@require_GET
def detail(request: ActorRequest, experiment_id: UUID) -> HttpResponse:
    """`?tab=` chooses the tab."""
    experiment = selectors.get(request.actor, experiment_id)
    tab = request.GET.get("tab", "overview")
    return render(request, "tuning/detail.html", page(request, experiment, tab if tab in TABS else "overview"))


def page(request: ActorRequest, experiment: Experiment, tab: str) -> dict[str, Any]:
    trials = list(selectors.trials(experiment))
    spent = selectors.spent(trials)
    objectives = objectives_of(experiment)
    best = selectors.best_of(objectives[0], trials)
    numbers = selectors.counts(experiment)
    return {
        "experiment": experiment,
        "tab": tab,
        "tabs": _tabs(tab, numbers.created),
        "counts": numbers,
        "left": max(0, experiment.most_trials - numbers.created),
        "aims": [aim(each) for each in objectives],
        "objective": objectives[0],
        "best": best,
        "best_values": charts.rows(experiment, [best], spent, best)[0].values if best else [],
        "spent_fen": sum(spent.values(), Decimal(0)),
        "rows": charts.rows(experiment, trials, spent, best),
        "objective_chart": charts.objective_chart(experiment, trials),
        "parallel_chart": charts.parallel_chart(experiment, trials),
        "why_ended": why_ended(experiment),
        "why_waiting": why_waiting(experiment),
        **(_analysis(experiment, trials) if tab == "analysis" else {}),
        "said": experiment.reason_data.get("said", ""),
        "said_instead": said_instead(trials),
        "may_go_on": experiment.ended_at is not None and experiment.resume_policy != ResumePolicy.NEVER,
        "is_running": experiment.status == ExperimentStatus.RUNNING,
        "may_act": request.actor.may(Permission.TRAINING_SUBMIT),
        "settings": _settings(experiment) if tab == "settings" else [],
        "parameters": _parameters(experiment) if tab == "settings" else [],
        "last_event_id": training.last_event_id(request.actor),
    }


def _tabs(current: str, trials: int) -> list[dict[str, Any]]:
    labels = {
        "overview": pgettext("tab", "Overview"),
        "trials": _("Trials"),
        "analysis": _("Analysis"),
        "settings": _("Settings"),
    }
    return [
        {"label": label, "url": f"?tab={name}", "current": name == current, "count": trials if name == "trials" else 0}
        for name, label in labels.items()
    ]


def _analysis(experiment: Experiment, trials: list[Trial]) -> dict[str, Any]:
    return {
        "intermediate_chart": charts.intermediate_chart(experiment, trials),
        "timeline": timeline(trials),
        "several_parameters": len(experiment.parameters["parameters"]) > 1,
    }


def _settings(experiment: Experiment) -> list[tuple[str, str]]:
    stopping = early_stopping_of(experiment)
    stops = _("after step %(step)s, once %(trials)s are finished") % {
        "step": stopping.start_step,
        "trials": stopping.min_trials,
    }
    return [
        (_("Algorithm"), str(ALGORITHMS[Algorithm(experiment.algorithm)])),
        *((str(SETTING_LABELS[name]), f"{value:g}") for name, value in experiment.algorithm_settings.items()),
        (_("Seed"), str(experiment.seed)),
        *([(_("Began with"), _began(experiment))] if experiment.begins_with else []),
        (_("Stop trials early"), stops if stopping.kind is EarlyStoppingKind.MEDIAN else _("No")),
        (_("Metrics shown beside it"), ", ".join(experiment.extra_metrics)),
        (_("At a time"), str(experiment.parallel)),
        (_("Trials in all"), str(experiment.most_trials)),
        (_("Failed trials that are borne"), str(experiment.most_failed)),
        (_("Once it has ended"), str(RESUMING[ResumePolicy(experiment.resume_policy)])),
    ]


def _began(experiment: Experiment) -> str:
    count = len(beginning.known(experiment))
    name = experiment.begins_with.name if experiment.begins_with else ""
    return ngettext("%(name)s: %(n)s trial", "%(name)s: %(n)s trials", count) % {"name": name, "n": count}


def _parameters(experiment: Experiment) -> list[dict[str, Any]]:
    return [
        {
            "name": each.name,
            "kind": KINDS[each.kind],
            "range": _range(each),
            "placed": Placement.from_json(experiment.placements[each.name]),
            "when": _when(each),
        }
        for each in Space.from_json(experiment.parameters).parameters
    ]


def _range(parameter: Parameter) -> str:
    if not parameter.numbered:
        return ", ".join(text_of(each) for each in parameter.choices)
    words = f"{parameter.low:g} – {parameter.high:g}"
    if parameter.step:
        words += " · " + _("steps of %(step)s") % {"step": f"{parameter.step:g}"}
    return words + (" · " + _("logarithmic") if parameter.log else "")


def _when(parameter: Parameter) -> str:
    if parameter.condition is None:
        return ""
    values = ", ".join(text_of(each) for each in parameter.condition.values)
    return _("only with %(name)s = %(values)s") % {"name": parameter.condition.parameter, "values": values}
