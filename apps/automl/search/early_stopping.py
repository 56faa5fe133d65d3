"""Which running trials are not worth going on, by their curves alone."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from statistics import fmean, median
from typing import Any

from apps.automl.search import hyperband
from apps.automl.search.algorithms import Algorithm
from apps.automl.search.goals import Direction
from apps.automl.search.inquiry import Inquiry, PastTrial, TrialState


class EarlyStoppingKind(StrEnum):
    NONE = "none"
    MEDIAN = "median"


@dataclass(frozen=True, slots=True, kw_only=True)
class EarlyStopping:
    """`start_step`: how many values a trial reports before it may be stopped; `min_trials`: how many complete before.

    Both mean what Katib's `start_step` and `min_trials_required` mean, and have their defaults.
    """

    kind: EarlyStoppingKind = EarlyStoppingKind.NONE
    start_step: int = 4
    min_trials: int = 3

    def as_json(self) -> dict[str, Any]:
        return {"kind": self.kind.value, "start_step": self.start_step, "min_trials": self.min_trials}

    @classmethod
    def from_json(cls, said: Mapping[str, Any]) -> "EarlyStopping":
        return cls(kind=EarlyStoppingKind(said["kind"]), start_step=said["start_step"], min_trials=said["min_trials"])


def to_prune(inquiry: Inquiry, early_stopping: EarlyStopping) -> set[int]:
    """The numbers of running trials to stop: by the median rule, and by Hyperband's own where that is the algorithm.

    With two objectives a trial that is bad in one may be the best in the other, so none is stopped.
    """
    if len(inquiry.objectives) != 1:
        return set()
    stopped: set[int] = set()
    if early_stopping.kind is EarlyStoppingKind.MEDIAN:
        stopped |= _worse_than_median(inquiry, early_stopping)
    if inquiry.algorithm is Algorithm.HYPERBAND:
        stopped |= hyperband.to_stop(inquiry)
    return stopped


def _worse_than_median(inquiry: Inquiry, rule: EarlyStopping) -> set[int]:
    """The median rule of Vizier (Golovin et al. 2017).

    A trial at step S is stopped if its best value so far is worse than the median, over the complete trials, of the
    mean of what each had reported up to S. A trial without any finite value by then is stopped too.
    """
    sign = 1 if inquiry.objectives[0].direction is Direction.MINIMIZE else -1
    complete = [trial.curve for trial in inquiry.past if trial.state is TrialState.COMPLETE and trial.curve]
    if len(complete) < max(rule.min_trials, 1):
        return set()
    return {trial.number for trial in inquiry.past if _is_worse(trial, complete, rule.start_step, sign)}


def _is_worse(trial: PastTrial, complete: Sequence[Sequence[tuple[int, float]]], start: int, sign: int) -> bool:
    if trial.state is not TrialState.RUNNING or len(trial.curve) < max(start, 1):
        return False
    best = min((sign * value for value in _finite(trial.curve)), default=None)
    if best is None:
        return True
    last = max(step for step, _ in trial.curve)
    before = [_finite([point for point in curve if point[0] <= last]) for curve in complete]
    means = [sign * fmean(values) for values in before if values]
    return bool(means) and best > median(means)


def _finite(curve: Sequence[tuple[int, float]]) -> list[float]:
    return [value for _, value in curve if math.isfinite(value)]
