"""How much of the differences between trials each parameter explains."""

import math
import random
import warnings
from dataclasses import replace

from optuna import Study
from optuna.importance import FanovaImportanceEvaluator, get_param_importances
from optuna.samplers import RandomSampler
from optuna.trial import FrozenTrial
from optuna.trial import TrialState as OptunaState

from apps.automl.search.engine.generators import MOST_SEED
from apps.automl.search.engine.study import study_of
from apps.automl.search.failures import SearchFailed
from apps.automl.search.inquiry import Inquiry, TrialState

LEAST_TRIALS = 4
# The time grows faster than the trials, and shares hardly change any more: of more trials, this many are drawn.
MOST_TRIALS = 200


def importance(inquiry: Inquiry, objective: int) -> dict[str, float]:
    """The share of each parameter in the variance of an objective, largest first; together they are 1.

    This is fANOVA (Hutter et al. 2014), by Optuna's evaluator: a forest learns the trials, and the variance that one
    parameter explains by itself is integrated over its trees. Only parameters that all complete trials have are told;
    what a conditional one explains cannot be told from whether it was there.

    Raises `SearchFailed`: `few_trials`, or `no_variance` where all came out the same.
    """
    study = study_of(_drawn(inquiry), RandomSampler(seed=0))
    values = [_value(trial, objective) for trial in _complete(study) if math.isfinite(_value(trial, objective))]
    if len(values) < LEAST_TRIALS:
        raise SearchFailed("few_trials")
    if len(set(values)) == 1:
        raise SearchFailed("no_variance")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        shares = get_param_importances(
            study,
            evaluator=FanovaImportanceEvaluator(n_trees=32, max_depth=32, seed=inquiry.seed % MOST_SEED),
            target=lambda trial: _value(trial, objective),
        )
    return {name: float(share) for name, share in shares.items()}


def _drawn(inquiry: Inquiry) -> Inquiry:
    complete = [trial for trial in inquiry.past if trial.state is TrialState.COMPLETE]
    if len(complete) > MOST_TRIALS:
        complete = random.Random(inquiry.seed).sample(complete, MOST_TRIALS)  # noqa: S311
    return replace(inquiry, past=tuple(complete))


def _complete(study: Study) -> list[FrozenTrial]:
    return study.get_trials(deepcopy=False, states=(OptunaState.COMPLETE,))


def _value(trial: FrozenTrial, objective: int) -> float:
    return float(trial.values[objective])
