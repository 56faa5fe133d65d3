"""An Optuna study made of an inquiry, each time anew."""

import math
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

import optuna
from optuna.distributions import BaseDistribution, CategoricalDistribution, FloatDistribution, IntDistribution
from optuna.samplers import BaseSampler
from optuna.study import StudyDirection
from optuna.trial import FrozenTrial, Trial, create_trial

from apps.automl.search.goals import Objective
from apps.automl.search.hyperband import STUDY
from apps.automl.search.inquiry import Inquiry, PastTrial, TrialState
from apps.automl.search.space import Parameter, ParameterKind, Space, Value
from apps.automl.search.space.parameters import is_active, steps

# No algorithm asks when a trial was; Optuna asks that there is a time.
EPOCH = datetime(1970, 1, 1, tzinfo=UTC).replace(tzinfo=None)
STATES = {
    TrialState.RUNNING: optuna.trial.TrialState.RUNNING,
    TrialState.COMPLETE: optuna.trial.TrialState.COMPLETE,
    TrialState.PRUNED: optuna.trial.TrialState.PRUNED,
    TrialState.FAILED: optuna.trial.TrialState.FAIL,
}


def study_of(inquiry: Inquiry, sampler: BaseSampler) -> optuna.Study:
    """The study with all past trials, in the order of their numbers, and what its sampler kept."""
    study = optuna.create_study(
        study_name=STUDY,
        directions=[StudyDirection[objective.direction.name] for objective in inquiry.objectives],
        sampler=sampler,
        pruner=optuna.pruners.NopPruner(),
    )
    for key, value in inquiry.study_attrs.get("study", {}).items():
        study._storage.set_study_system_attr(study._study_id, key, value)
    for trial in sorted(inquiry.past, key=lambda each: each.number):
        study.add_trial(frozen(trial, inquiry.space, inquiry.objectives))
    return study


def frozen(trial: PastTrial, space: Space, objectives: tuple[Objective, ...]) -> FrozenTrial:
    """A trial as Optuna has it. One whose values are not of this space is left without them."""
    values = trial.values if space.contains(trial.values) else {}
    parameters = {each.name: each for each in space.parameters if each.name in values}
    state, results = _outcome(trial, len(objectives))
    made = create_trial(
        state=STATES[state],
        params={name: internal(parameters[name], value) for name, value in values.items()},
        distributions={name: distribution(parameter) for name, parameter in parameters.items()},
        values=results,
        intermediate_values=dict(trial.curve) if len(objectives) == 1 else None,
        system_attrs=dict(trial.attrs),
    )
    made.datetime_start = EPOCH
    made.datetime_complete = EPOCH if state is not TrialState.RUNNING else None
    return made


def _outcome(trial: PastTrial, objectives: int) -> tuple[TrialState, list[float] | None]:
    """A complete trial without a number for each objective has failed, as far as a sampler can learn from it."""
    if trial.state is not TrialState.COMPLETE:
        return trial.state, None
    results = trial.objectives or ()
    if len(results) != objectives or any(math.isnan(value) for value in results):
        return TrialState.FAILED, None
    return TrialState.COMPLETE, list(results)


def distribution(parameter: Parameter) -> BaseDistribution:
    """What Optuna draws from.

    A discrete parameter is the index of its choice by size, so that neighbours stay neighbours; a real number in steps
    is the number of its step, since Optuna's own rounding of bounds may lose the last one.
    """
    if parameter.kind is ParameterKind.CATEGORICAL:
        return CategoricalDistribution(parameter.choices)
    if _by_index(parameter):
        return IntDistribution(0, (parameter.size() or 1) - 1)
    low, high = parameter.low or 0, parameter.high or 0
    if parameter.kind is ParameterKind.INT:
        step = int(parameter.step or 1)
        return IntDistribution(int(low), int(low) + steps(low, high, step) * step, log=parameter.log, step=step)
    return FloatDistribution(low, high, log=parameter.log)


def _by_index(parameter: Parameter) -> bool:
    return parameter.kind is ParameterKind.DISCRETE or parameter.stepped


def internal(parameter: Parameter, value: Value) -> Value:
    """A value as its distribution has it."""
    if _by_index(parameter):
        return parameter.index_of(value) or 0
    if parameter.kind is ParameterKind.CATEGORICAL:
        return parameter.nth(parameter.index_of(value) or 0)
    number = float(value)
    return int(number) if parameter.kind is ParameterKind.INT else number


def external(parameter: Parameter, value: Any) -> Value:
    """What a distribution gave, as a value of the parameter: never outside of its bounds."""
    if parameter.kind is ParameterKind.CATEGORICAL:
        return parameter.nth(parameter.choices.index(value))
    if _by_index(parameter):
        return parameter.nth(int(value))
    number = min(max(float(value), parameter.low or 0), parameter.high or 0)
    return int(number) if parameter.kind is ParameterKind.INT else number


def suggest(trial: Trial, space: Space) -> dict[str, Value]:
    """Values for the parameters that are active with those before them, as a program under Optuna would ask."""
    values: dict[str, Value] = {}
    for parameter in space.parameters:
        if is_active(parameter, values):
            drawn = trial._suggest(parameter.name, distribution(parameter))
            values[parameter.name] = external(parameter, drawn)
    return values


def study_attrs(study: optuna.Study) -> Mapping[str, Any]:
    return study._storage.get_study_system_attrs(study._study_id)
