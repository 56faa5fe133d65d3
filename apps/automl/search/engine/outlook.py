"""What more trials would bring, by simulation."""

import numpy as np

from apps.automl.search.algorithms import Algorithm
from apps.automl.search.engine.encoding import Encoding, Floats
from apps.automl.search.engine.generators import MOST_SEED
from apps.automl.search.engine.surrogate import Surrogate, finite, fit, is_known, known
from apps.automl.search.failures import SearchFailed
from apps.automl.search.goals import Direction
from apps.automl.search.inquiry import Inquiry, PastTrial, TrialState
from apps.automl.search.outlook import Outlook

LEAST_TRIALS = 5
RESAMPLES, DRAWS = 5, 50
EVERYWHERE, NEAR_BEST = 300, 100
# Of those that learn, how many trials go where improvement is expected; the rest explores.
LEARNT_SHARE = 0.5
BLIND = (Algorithm.RANDOM, Algorithm.GRID, Algorithm.SOBOL)


def outlook(inquiry: Inquiry, more: int) -> Outlook:
    """The best value after each of `more` further trials, over 250 simulated continuations of the search.

    The complete trials are resampled with replacement five times. A Gaussian process (its kernel fitted once, to all of
    them) learns each resample, and fifty functions are drawn from it over 400 points: of the whole space, and around
    the best trials. A continuation walks over points of one function: any points for algorithms that do not learn, and
    half of them in proportion to the expected improvement for those that do. A trial brings a result with the
    probability that past ones did; noise of the metric is in the process, and so in what a lucky trial may bring.

    Raises `SearchFailed`: `few_trials`.
    """
    complete = known(inquiry)
    if len(complete) < LEAST_TRIALS:
        raise SearchFailed("few_trials")
    draw = np.random.default_rng(inquiry.seed % MOST_SEED)
    sign = 1.0 if inquiry.objectives[0].direction is Direction.MINIMIZE else -1.0
    losses = finite(sign * np.array([(trial.objectives or (0.0,))[0] for trial in complete]))
    paths = _paths(inquiry, complete, losses, more, draw)
    # A trial that ends without a result leaves the best as it was.
    paths = np.where(draw.uniform(size=paths.shape) < _result_share(inquiry), paths, np.inf)
    best = float(losses.min())
    return _summary(inquiry, np.minimum(np.minimum.accumulate(paths, axis=1), best), sign, best, len(complete))


def _result_share(inquiry: Inquiry) -> float:
    ended = [trial for trial in inquiry.past if trial.state is not TrialState.RUNNING]
    return sum(is_known(trial) for trial in ended) / len(ended)


def _paths(inquiry: Inquiry, complete: list[PastTrial], losses: Floats, more: int, draw: np.random.Generator) -> Floats:
    """The losses that each continuation comes by, one row for each."""
    encoding = Encoding(inquiry.space)
    units = np.array([encoding.unit(trial.values) for trial in complete])
    points = encoding.features(_points(units, losses, draw))
    features = encoding.features(units)
    kernel = fit(features, losses).kernel
    rows = []
    for _ in range(RESAMPLES):
        chosen = draw.integers(len(losses), size=len(losses))
        surrogate = fit(features[chosen], losses[chosen], kernel)
        weights = _weights(inquiry.algorithm, surrogate, points)
        for function in _functions(surrogate, points, draw):
            walked = draw.choice(len(points), size=more, replace=False, p=weights)
            rows.append(function[walked])
    return np.array(rows)


def _points(units: Floats, losses: Floats, draw: np.random.Generator) -> Floats:
    dimensions = units.shape[1]
    best = units[np.argsort(losses, kind="stable")[:5]]
    near = best[draw.integers(len(best), size=NEAR_BEST)] + draw.normal(scale=0.1, size=(NEAR_BEST, dimensions))
    return np.vstack([draw.uniform(size=(EVERYWHERE, dimensions)), np.clip(near, 0.0, 1.0)])


def _functions(surrogate: Surrogate, points: Floats, draw: np.random.Generator) -> Floats:
    means, covariance = surrogate.process.predict(points, return_cov=True)
    root = np.linalg.cholesky(covariance + 1e-6 * np.eye(len(points)))
    standard = means + draw.normal(size=(DRAWS, len(points))) @ root.T
    functions: Floats = surrogate.mean + surrogate.scale * standard
    return functions


def _weights(algorithm: Algorithm, surrogate: Surrogate, points: Floats) -> Floats:
    everywhere = np.zeros(len(points))
    everywhere[:EVERYWHERE] = 1 / EVERYWHERE
    if algorithm in BLIND:
        return everywhere
    improvement = surrogate.expected_improvement(points) + 1e-9
    weights: Floats = LEARNT_SHARE * improvement / improvement.sum() + (1 - LEARNT_SHARE) * everywhere
    return weights


def _summary(inquiry: Inquiry, bests: Floats, sign: float, best: float, trials: int) -> Outlook:
    values, last = sign * bests, bests[:, -1]
    low, middle, high = (tuple(np.percentile(values, share, axis=0).tolist()) for share in (10, 50, 90))
    objective = inquiry.objectives[0]
    goal = None if objective.goal is None else float((last <= sign * objective.goal).mean())
    return Outlook(
        best=sign * best,
        low=low,
        middle=middle,
        high=high,
        improves=float((last < best).mean()),
        reaches_goal=goal,
        trials=trials,
        rounds=len(bests),
    )
