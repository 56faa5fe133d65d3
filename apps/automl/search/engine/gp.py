"""Bayesian optimisation on a Gaussian process, as a sampler of Optuna.

Optuna's own `GPSampler` needs PyTorch. This one fits scikit-learn's process (Matern 5/2) and takes the point with the
highest expected improvement. A running trial counts as an average one (a constant liar), so that what is asked at once
spreads; one that failed as the worst, one that was stopped early as no better than the average. Two objectives are
weighed into one at random for each suggestion (ParEGO, Knowles 2006), which walks along the Pareto front.
"""

import warnings
from collections.abc import Sequence
from typing import Any

import numpy as np
from optuna import Study
from optuna.distributions import BaseDistribution
from optuna.samplers import BaseSampler
from optuna.samplers._lazy_random_state import LazyRandomState
from optuna.study import StudyDirection
from optuna.trial import FrozenTrial, TrialState
from scipy.stats import qmc
from sklearn.gaussian_process.kernels import Kernel

from apps.automl.search.algorithms import Algorithm, setting
from apps.automl.search.engine.asking import ask_with, seed_for
from apps.automl.search.engine.encoding import Encoding, Floats
from apps.automl.search.engine.study import distribution, external, internal
from apps.automl.search.engine.surrogate import Surrogate, finite, fit
from apps.automl.search.inquiry import Answer, Inquiry
from apps.automl.search.space import Space

CANDIDATES = 1024
NEAR = 256
# Around the best point found so far, ever closer.
REACHES = (0.2, 0.05, 0.01)


def ask(inquiry: Inquiry) -> Answer:
    startup = setting(Algorithm.GP, inquiry.settings, "n_startup_trials")
    return ask_with(inquiry, GaussianProcessSampler(inquiry.space, startup, seed_for(inquiry), inquiry.seed))


class GaussianProcessSampler(BaseSampler):
    """`scramble` seeds the sequence of the first trials, which has to be one sequence over all inquiries."""

    def __init__(self, space: Space, startup: int, seed: int, scramble: int) -> None:
        self._space = space
        self._encoding = Encoding(space)
        self._startup = startup
        self._scramble = scramble
        self._rng = LazyRandomState(seed)
        self._fitted: tuple[int, Kernel] | None = None

    def reseed_rng(self) -> None:
        self._rng.rng.seed()

    def infer_relative_search_space(self, study: Study, trial: FrozenTrial) -> dict[str, BaseDistribution]:
        return {parameter.name: distribution(parameter) for parameter in self._space.parameters}

    def sample_relative(
        self, study: Study, trial: FrozenTrial, search_space: dict[str, BaseDistribution]
    ) -> dict[str, Any]:
        others = [each for each in study.get_trials(deepcopy=False) if each.number != trial.number]
        complete = sum(each.state is TrialState.COMPLETE for each in others)
        unit = self._first(trial.number) if complete < self._startup else self._best(study, others)
        values = self._encoding.values(unit)
        return {each.name: internal(each, values[each.name]) for each in self._space.parameters if each.name in values}

    def sample_independent(
        self, study: Study, trial: FrozenTrial, param_name: str, param_distribution: BaseDistribution
    ) -> Any:
        raise AssertionError("Every active parameter is drawn with the others.")

    def _first(self, number: int) -> Floats:
        """The point of a scrambled sequence of Sobol that belongs to this trial."""
        sequence = qmc.Sobol(self._encoding.dimensions, scramble=True, rng=np.random.default_rng(self._scramble))
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)
            if number:
                sequence.fast_forward(number)
            first: Floats = sequence.random(1)[0]
        return first

    def _best(self, study: Study, others: Sequence[FrozenTrial]) -> Floats:
        known = [each for each in others if each.params]
        features = self._encoding.features(np.array([self._unit(each) for each in known]))
        losses = self._losses(study, known)
        surrogate = self._surrogate(features, losses, known)
        return self._highest(surrogate, features, self._unit(known[int(losses.argmin())]))

    def _unit(self, trial: FrozenTrial) -> Floats:
        parameters = {each.name: each for each in self._space.parameters}
        return self._encoding.unit({name: external(parameters[name], value) for name, value in trial.params.items()})

    def _losses(self, study: Study, trials: Sequence[FrozenTrial]) -> Floats:
        """One number for each trial, of which small is good."""
        signs = np.array([1.0 if each is StudyDirection.MINIMIZE else -1.0 for each in study.directions])
        complete = np.array([each.state is TrialState.COMPLETE for each in trials])
        results = np.array([each.values for each in trials if each.state is TrialState.COMPLETE], dtype=float) * signs
        each_objective = np.array([finite(column) for column in results.T])
        losses = self._weighed(each_objective) if len(signs) > 1 else each_objective[0]
        filled = np.full(len(trials), losses.mean())
        filled[complete] = losses
        filled[[each.state is TrialState.FAIL for each in trials]] = losses.max()
        return filled

    def _weighed(self, losses: Floats) -> Floats:
        """The augmented Chebyshev norm of the objectives between 0 and 1, under weights at random."""
        low, high = losses.min(axis=1, keepdims=True), losses.max(axis=1, keepdims=True)
        weights = self._rng.rng.dirichlet(np.ones(len(losses)))[:, None]
        weighed = weights * (losses - low) / np.maximum(high - low, 1e-12)
        norm: Floats = weighed.max(axis=0) + 0.05 * weighed.sum(axis=0)
        return norm

    def _surrogate(self, features: Floats, losses: Floats, known: Sequence[FrozenTrial]) -> Surrogate:
        """What is asked at once differs in running trials alone: the kernel of the first fit serves for all."""
        ended = sum(each.state.is_finished() for each in known)
        kernel = self._fitted[1] if self._fitted and self._fitted[0] == ended else None
        surrogate = fit(features, losses, kernel)
        self._fitted = (ended, surrogate.kernel)
        return surrogate

    def _highest(self, surrogate: Surrogate, known: Floats, best: Floats) -> Floats:
        """The point with the highest expected improvement: over the whole cube, near the best trial, then closer."""
        everywhere = self._rng.rng.uniform(size=(CANDIDATES, self._encoding.dimensions))
        units = np.vstack([everywhere, self._near(best, REACHES[0])])
        top, value = self._top(surrogate, units, known)
        for reach in REACHES:
            near, near_value = self._top(surrogate, self._near(top, reach), known)
            if near_value > value:
                top, value = near, near_value
        return top

    def _near(self, unit: Floats, reach: float) -> Floats:
        """Points around this one. Each moves in some coordinates alone, so that choices are not all thrown at once."""
        shape = (NEAR, self._encoding.dimensions)
        moved = unit + self._rng.rng.normal(scale=reach, size=shape)
        stays = self._rng.rng.uniform(size=shape) < 0.3
        return np.clip(np.where(stays, unit, moved), 0.0, 1.0)

    def _top(self, surrogate: Surrogate, units: Floats, known: Floats) -> tuple[Floats, float]:
        """The best of these points; one that was tried before counts only where there is no other."""
        features = self._encoding.features(units)
        improvement = surrogate.expected_improvement(features)
        tried = {row.tobytes() for row in known.round(9)}
        improvement[[row.tobytes() in tried for row in features.round(9)]] -= 1e6
        index = int(improvement.argmax())
        return units[index], float(improvement[index])
