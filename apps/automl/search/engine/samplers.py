"""The sampler of each algorithm that Optuna has, with the settings of an inquiry."""

from typing import Any

import optuna
from optuna.pruners import BasePruner, HyperbandPruner
from optuna.samplers import BaseSampler, CmaEsSampler, QMCSampler, RandomSampler, TPESampler

from apps.automl.search.algorithms import Algorithm, setting
from apps.automl.search.inquiry import Inquiry


def sampler_of(inquiry: Inquiry, seed: int) -> BaseSampler:
    match inquiry.algorithm:
        case Algorithm.TPE | Algorithm.HYPERBAND:
            return _tpe(inquiry, seed)
        case Algorithm.CMAES:
            return CmaEsSampler(
                n_startup_trials=_setting(inquiry, "n_startup_trials"),
                popsize=_setting(inquiry, "population"),
                warn_independent_sampling=False,
                seed=seed,
            )
        case Algorithm.SOBOL:
            return QMCSampler(qmc_type="sobol", warn_independent_sampling=False, seed=seed)
        case _:
            return RandomSampler(seed=seed)


def pruner_of(inquiry: Inquiry) -> BasePruner:
    """Hyperband's samplers learn from the trials of one bracket at a time; its rule to stop is `search.hyperband`."""
    if inquiry.algorithm is not Algorithm.HYPERBAND:
        return optuna.pruners.NopPruner()
    names = ("min_resource", "max_resource", "reduction_factor")
    return HyperbandPruner(**{name: _setting(inquiry, name) for name in names})


def _tpe(inquiry: Inquiry, seed: int) -> TPESampler:
    """With conditions, parameters that are active together are drawn together."""
    conditional = any(parameter.condition for parameter in inquiry.space.parameters)
    return TPESampler(
        n_startup_trials=_setting(inquiry, "n_startup_trials"),
        n_ei_candidates=_setting(inquiry, "n_ei_candidates"),
        group=conditional and len(inquiry.objectives) == 1,
        seed=seed,
    )


def _setting(inquiry: Inquiry, name: str) -> Any:
    return setting(inquiry.algorithm, inquiry.settings, name)
