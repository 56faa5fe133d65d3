"""Experiments taken along: as Katib writes them down, and their trials as a study of Optuna."""

from dataclasses import dataclass
from typing import Any

from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from apps.automl.choices import ResumePolicy
from apps.automl.measuring import objectives_of
from apps.automl.models import Experiment
from apps.automl.reconcile.asking import early_stopping_of, inquiry
from apps.automl.rows import ParameterRow, rows_for
from apps.automl.search.algorithms import Algorithm
from apps.automl.search.exchange import draft as drafts
from apps.automl.search.exchange import katib
from apps.automl.search.exchange.fields import BadFile, Fault
from apps.automl.search.exchange.optuna_study import export_study
from apps.automl.search.failures import SearchFailed
from apps.automl.search.goals import MetricStrategy
from apps.automl.search.space import Space
from apps.common.errors import Invalid, Unavailable
from apps.common.text import clean_name
from apps.training.placing import default_placement

MOST_FAULTS = 10
_FAULTS = {
    "too_large": gettext_lazy("The file is too large."),
    "not_yaml": gettext_lazy("This is no YAML."),
    "not_an_experiment": gettext_lazy("This is no Experiment of Katib (kubeflow.org/v1beta1)."),
    "missing": gettext_lazy("%(path)s is missing."),
    "wrong_type": gettext_lazy("%(path)s is not of the right kind: %(said)s."),
    "unknown": gettext_lazy("%(path)s: %(said)s is not known."),
    "duplicate": gettext_lazy("%(path)s: %(said)s stands there twice."),
}


@dataclass(frozen=True, slots=True)
class Imported:
    """What the form begins with. `ignored`: fields of the file that have no counterpart here."""

    initial: dict[str, Any]
    rows: list[ParameterRow]
    ignored: tuple[str, ...]


def read_katib(content: bytes) -> Imported:
    """Raises `Invalid` beside `file`, with every fault that the file has."""
    try:
        found = katib.read(content.decode("utf-8-sig"))
    except UnicodeDecodeError as error:
        raise Invalid.field("file", _("The file is not UTF-8 text.")) from error
    except BadFile as error:
        raise Invalid.field("file", " ".join(_words(each) for each in error.faults[:MOST_FAULTS])) from error
    draft = found.draft
    placements = {each.name: default_placement(each.name) for each in draft.parameters}
    return Imported(_initial(draft), rows_for(draft.parameters, placements), found.ignored)


def _words(fault: Fault) -> str:
    words = _FAULTS.get(fault.code, gettext_lazy("%(path)s cannot be read."))
    return str(words) % {"path": fault.path, "said": fault.said}


def _initial(draft: drafts.Draft) -> dict[str, Any]:
    first = draft.objectives[0]
    strategy = draft.strategies.get(first.metric)
    return {
        "name": clean_name(draft.name)[:80],
        "metric": first.metric,
        "direction": first.direction.value,
        "goal": first.goal,
        "strategy": strategy.value if strategy else "",
        "extra_metrics": ", ".join(draft.additional_metrics),
        "algorithm": draft.algorithm.value,
        **{f"{draft.algorithm.value}-{name}": value for name, value in draft.settings.items()},
        "early_stopping": draft.early_stopping.kind.value,
        "start_step": draft.early_stopping.start_step,
        "min_trials": draft.early_stopping.min_trials,
        "most_trials": draft.max_trials or 20,
        "parallel": draft.parallel or 1,
        "most_failed": 3 if draft.max_failed is None else draft.max_failed,
        "resume_policy": ResumePolicy(draft.resume_policy.value).value,
        "seed": draft.seed,
    }


def write_katib(experiment: Experiment) -> str:
    """Its trial template stands for the run, which Katib cannot start: its owner puts a job of theirs there."""
    objectives = objectives_of(experiment)
    parameters = Space.from_json(experiment.parameters).parameters
    draft = drafts.Draft(
        name=experiment.name,
        objectives=objectives,
        additional_metrics=tuple(experiment.extra_metrics),
        strategies={each.metric: MetricStrategy(experiment.strategy) for each in objectives},
        algorithm=Algorithm(experiment.algorithm),
        settings=experiment.algorithm_settings,
        seed=experiment.seed,
        early_stopping=early_stopping_of(experiment),
        parallel=experiment.parallel,
        max_trials=experiment.most_trials,
        max_failed=experiment.most_failed,
        resume_policy=drafts.ResumePolicy(experiment.resume_policy),
        parameters=parameters,
        trial_parameters=tuple(drafts.TrialParameter(name=each.name, reference=each.name) for each in parameters),
    )
    written = katib.write(draft)
    left_out = ", ".join(written.left_out)
    return f"# Left out, as Katib has no field for it: {left_out}\n{written.text}" if left_out else written.text


def study_file(experiment: Experiment) -> bytes:
    """For Optuna's own tools. Raises `Unavailable` where that could not be made now."""
    try:
        return export_study(inquiry(experiment, count=0), experiment.name)
    except SearchFailed as error:
        raise Unavailable(_("The study could not be written now."), hint=_("Try again in a minute.")) from error
