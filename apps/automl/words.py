"""Words for what an experiment is made of, and for what became of it."""

from collections.abc import Mapping
from typing import Any

from django.utils.functional import Promise
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, pgettext_lazy

from apps.automl.choices import EndReason, Hurdle, ResumePolicy
from apps.automl.models import Experiment
from apps.automl.search.algorithms import Algorithm
from apps.automl.search.goals import Direction, MetricStrategy, Objective
from apps.automl.search.space import ParameterKind

ALGORITHMS: Mapping[Algorithm, Promise] = {
    Algorithm.TPE: gettext_lazy("TPE: learns from earlier trials; good for most searches"),
    Algorithm.RANDOM: gettext_lazy("Random: every point is as likely; a fair comparison"),
    Algorithm.GRID: gettext_lazy("Grid: every combination of the steps and choices, once"),
    Algorithm.GP: gettext_lazy("Bayesian (Gaussian process): for few, dear trials"),
    Algorithm.CMAES: gettext_lazy("CMA-ES: for numbers that act together, over many trials"),
    Algorithm.SOBOL: gettext_lazy("Sobol: spreads the trials evenly"),
    Algorithm.HYPERBAND: gettext_lazy("Hyperband: starts many, stops the worse ones early"),
    Algorithm.PBT: gettext_lazy("Population based: generations that go on from the best ones' checkpoints"),
}
KINDS: Mapping[ParameterKind, Promise] = {
    ParameterKind.DOUBLE: pgettext_lazy("parameter", "Number"),
    ParameterKind.INT: pgettext_lazy("parameter", "Whole number"),
    ParameterKind.CATEGORICAL: pgettext_lazy("parameter", "Choices"),
    ParameterKind.DISCRETE: pgettext_lazy("parameter", "Choices of numbers"),
}
STRATEGIES: list[tuple[str, Promise]] = [
    ("", gettext_lazy("The best that it ever said")),
    (MetricStrategy.LATEST.value, gettext_lazy("The last")),
    (MetricStrategy.MIN.value, gettext_lazy("The smallest")),
    (MetricStrategy.MAX.value, gettext_lazy("The largest")),
]
RESUMING: Mapping[ResumePolicy, Promise] = {
    ResumePolicy.LONG_RUNNING: gettext_lazy(
        "LongRunning: more trials can be added at any time; the search knows all that were"
    ),
    ResumePolicy.FROM_VOLUME: gettext_lazy("FromVolume: likewise, and other experiments can begin with what it found"),
    ResumePolicy.NEVER: gettext_lazy("Never: it is final; another one like it can be started"),
}
SETTING_LABELS: Mapping[str, Any] = {
    "n_startup_trials": gettext_lazy("Trials before it learns"),
    "n_ei_candidates": gettext_lazy("Candidates for each trial"),
    "population": gettext_lazy("Trials of a generation"),
    "min_resource": gettext_lazy("Least steps of a trial"),
    "max_resource": gettext_lazy("Most steps of a trial"),
    "reduction_factor": gettext_lazy("Of so many trials one goes on"),
    "quantile": gettext_lazy("Part of a generation that is replaced"),
    "resample_probability": gettext_lazy("Probability of a new value"),
    "factor_down": gettext_lazy("Factor downwards"),
    "factor_up": gettext_lazy("Factor upwards"),
}
_ENDS: Mapping[EndReason, Promise] = {
    EndReason.ALL_TRIALS: gettext_lazy("All its trials are done."),
    EndReason.GOAL: gettext_lazy("A trial reached the goal."),
    EndReason.EXHAUSTED: gettext_lazy("Every point of its space was tried."),
    EndReason.BUDGET: gettext_lazy("What is left of its budget does not pay for another trial."),
    EndReason.FAILED_TRIALS: gettext_lazy("More trials failed than were to be borne."),
    EndReason.TEMPLATE_LOST: gettext_lazy("The run that it tunes cannot be started any more."),
    EndReason.OWNER_LOST: gettext_lazy("Its owner may not start runs any more."),
    EndReason.SEARCH_FAILED: gettext_lazy("The search could not propose another trial."),
}
_HURDLES: Mapping[Hurdle, Promise] = {
    Hurdle.QUOTA: gettext_lazy("The next trial waits for quota; it starts by itself."),
    Hurdle.FUNDS: gettext_lazy(
        "The balance does not suffice for the next trial; it starts once the wallet is topped up."
    ),
    Hurdle.BUDGET: gettext_lazy(
        "What is left of the budget is reserved for the trials that run; the next one follows them."
    ),
    Hurdle.FROZEN: gettext_lazy("The organisation is frozen; the next trial starts once it is not."),
    Hurdle.UNAVAILABLE: gettext_lazy(
        "Something that the next trial needs cannot be reached now; it is tried again by itself."
    ),
    Hurdle.PARENTS: gettext_lazy("The next generation starts once the trials of the last one are done."),
}


def why_ended(experiment: Experiment) -> str:
    """A sentence; empty while nothing ends it."""
    reason = EndReason(experiment.reason)
    if reason is EndReason.BY_PERSON:
        return _("%(who)s stopped it.") % {"who": experiment.reason_data.get("by") or _("Somebody")}
    return str(_ENDS.get(reason, ""))


def why_waiting(experiment: Experiment) -> str:
    """Why no trial is started at the moment; empty where nothing stands in the way."""
    return str(_HURDLES.get(Hurdle(experiment.hurdle), ""))


def aim(objective: Objective) -> str:
    """`val_loss, as small as possible`."""
    words = {
        Direction.MINIMIZE: _("%(metric)s, as small as possible"),
        Direction.MAXIMIZE: _("%(metric)s, as large as possible"),
    }
    return words[objective.direction] % {"metric": objective.metric}
