"""Hyperband's rule for stopping trials: successive halving in several brackets (Li et al. 2018).

A bracket says how long its trials are left alone. Rungs lie at min_resource x reduction_factor^(bracket + 0, 1, 2 …)
steps; a trial at a rung goes on if it is among the best 1/reduction_factor of all that came to this rung. Optuna's
`HyperbandPruner` does the same and keeps in each trial what it had at its rungs; here that is read off the curves, so
that nothing has to be kept. A trial between two rungs is therefore compared again with those who came later.
"""

import math
from binascii import crc32
from collections.abc import Mapping, Sequence
from itertools import accumulate
from typing import Any

from apps.automl.search.algorithms import Algorithm, setting
from apps.automl.search.goals import Direction
from apps.automl.search.inquiry import Inquiry, PastTrial, TrialState

# Optuna spreads trials over brackets by the name of their study and their number.
STUDY = "search"
Curve = Sequence[tuple[int, float]]


class Brackets:
    """The brackets that these settings make."""

    def __init__(self, settings: Mapping[str, Any]) -> None:
        self.least, most, self.factor = (
            setting(Algorithm.HYPERBAND, settings, name)
            for name in ("min_resource", "max_resource", "reduction_factor")
        )
        count = math.floor(math.log(most / self.least, self.factor)) + 1
        # More trials for the brackets that stop early.
        self.shares = [math.ceil(count * self.factor ** (s := count - 1 - at) / (s + 1)) for at in range(count)]

    def bracket_of(self, index: int) -> int:
        """The bracket of the trial with this index in its study."""
        place = crc32(f"{STUDY}_{index}".encode()) % sum(self.shares)
        ends = accumulate(self.shares)
        return next(bracket for bracket, end in enumerate(ends) if place < end)

    def at_rungs(self, bracket: int, curve: Curve) -> list[float]:
        """The value that a curve had when it came to each rung, as far as it came."""
        values = []
        rung = self.least * self.factor**bracket
        for step, value in curve:
            while step >= rung:
                values.append(value)
                rung *= self.factor
        return values


def to_stop(inquiry: Inquiry) -> set[int]:
    """The numbers of running trials that are not among the best of the highest rung that they reached."""
    brackets = Brackets(inquiry.settings)
    minimize = inquiry.objectives[0].direction is Direction.MINIMIZE
    groups: dict[int, list[tuple[PastTrial, list[float]]]] = {}
    for index, trial in enumerate(sorted(inquiry.past, key=lambda each: each.number)):
        bracket = brackets.bracket_of(index)
        groups.setdefault(bracket, []).append((trial, brackets.at_rungs(bracket, trial.curve)))
    return {
        trial.number
        for group in groups.values()
        for trial, reached in group
        if trial.state is TrialState.RUNNING and reached and not _goes_on(reached, group, brackets.factor, minimize)
    }


def _goes_on(reached: list[float], group: list[tuple[PastTrial, list[float]]], factor: int, minimize: bool) -> bool:
    rung = len(reached) - 1
    if math.isnan(reached[rung]):
        return False
    sign = 1 if minimize else -1
    values = [sign * other[rung] for _, other in group if len(other) > rung and not math.isnan(other[rung])]
    # Fewer than `factor` trials: the best one goes on.
    last = max(len(values) // factor, 1) - 1
    return sign * reached[rung] <= sorted(values)[last]
