"""The sampler of each algorithm that Optuna has, with the settings of an inquiry.

Hyperband's trials are TPE's, which learns from all brackets; what differs is who is stopped (`search.hyperband`).
"""

from typing import Any

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
