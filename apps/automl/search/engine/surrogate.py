"""A Gaussian process over the features of a space: what trials that nobody ran would have brought."""

import math
import warnings
from dataclasses import dataclass

import numpy as np
from scipy.stats import norm
from sklearn.exceptions import ConvergenceWarning
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.gaussian_process.kernels import ConstantKernel, Kernel, Matern, WhiteKernel

from apps.automl.search.engine.encoding import Floats
from apps.automl.search.inquiry import Inquiry, PastTrial, TrialState

# A fit takes time with the third power of the points: with more, the best half of this and the latest half are learnt.
MOST_POINTS = 200
# With more features than these a length of its own for each cannot be told from so few trials.
MOST_LENGTHS = 12
FURTHEST = 4.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Surrogate:
    """A fitted process. Small is good; values are in units of the deviation `scale` around `mean`."""

    process: GaussianProcessRegressor
    mean: float
    scale: float
    best: float

    @property
    def kernel(self) -> Kernel:
        return self.process.kernel_

    def expected_improvement(self, features: Floats) -> Floats:
        """By how much each point is expected to be better than the best one known (Jones et al. 1998)."""
        means, deviations = self.process.predict(features, return_std=True)
        deviations = np.maximum(deviations, 1e-9)
        z = (self.best - means) / deviations
        improvement: Floats = deviations * (z * norm.cdf(z) + norm.pdf(z))
        return improvement


def known(inquiry: Inquiry) -> list[PastTrial]:
    """The trials that a surrogate learns from: measured to their end, within the space."""
    return [trial for trial in inquiry.past if is_known(trial) and inquiry.space.contains(trial.values)]


def is_known(trial: PastTrial) -> bool:
    return trial.state is TrialState.COMPLETE and bool(trial.objectives) and not np.isnan(trial.objectives or ()).any()


def fit(features: Floats, values: Floats, kernel: Kernel | None = None) -> Surrogate:
    """Learn from these points, of which small values are good. A given kernel is taken as it is, which is fast."""
    chosen = _chosen(values)
    features, values = features[chosen], finite(values[chosen])
    mean, scale = float(values.mean()), float(values.std()) or 1.0
    # Far worse values say "not there", but not how the function runs where it matters.
    standard = np.minimum((values - mean) / scale, FURTHEST)
    process = GaussianProcessRegressor(
        kernel=kernel or _kernel(features.shape[1]), optimizer=None if kernel else "fmin_l_bfgs_b", random_state=0
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        process.fit(features, standard)
    return Surrogate(process=process, mean=mean, scale=scale, best=float(standard.min()))


def finite(values: Floats) -> Floats:
    """Infinite values as the worst, or best, finite one."""
    known = values[np.isfinite(values)]
    low, high = (float(known.min()), float(known.max())) if known.size else (0.0, 0.0)
    return np.nan_to_num(values, nan=high, posinf=high, neginf=low)


def _kernel(features: int) -> Kernel:
    """Matern 5/2 with noise; lengths from a twentieth of the cube to where a feature makes no difference."""
    lengths = np.full(features, 0.5) if features <= MOST_LENGTHS else 0.5 * math.sqrt(features)
    matern = Matern(length_scale=lengths, length_scale_bounds=(0.05, 50.0), nu=2.5)
    return ConstantKernel(1.0, (0.05, 20.0)) * matern + WhiteKernel(1e-3, (1e-6, 0.5))


def _chosen(values: Floats) -> list[int]:
    count = len(values)
    if count <= MOST_POINTS:
        return list(range(count))
    best = {int(index) for index in np.argsort(values, kind="stable")[: MOST_POINTS // 2]}
    latest = [index for index in range(count - 1, -1, -1) if index not in best]
    return sorted(best | set(latest[: MOST_POINTS // 2]))
