"""How many replicas a service by load is to have; nothing here reads a clock or a row.

As the Horizontal Pod Autoscaler of Kubernetes: ceil(load / target), nothing for a difference within a tenth, up at
once, down to the highest of what was recommended within a window.
https://kubernetes.io/docs/tasks/run-application/horizontal-pod-autoscale/#algorithm-details
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass

TOLERANCE = 0.1
MINUTE_S = 60


@dataclass(frozen=True, slots=True)
class Bounds:
    """`target`: requests in flight for each replica. `patience_min`: for so long fewer suffice before it has fewer."""

    least: int
    most: int
    target: int
    patience_min: int

    def within(self, number: int) -> int:
        return max(self.least, min(self.most, number))


def recommended(load: float, current: int, bounds: Bounds) -> int:
    """For `load` requests in flight, all replicas together."""
    if current and abs(load / (current * bounds.target) - 1) <= TOLERANCE:
        return bounds.within(current)
    return bounds.within(math.ceil(load / bounds.target))


def remembered(peaks: Mapping[int, int], now_s: float, number: int, bounds: Bounds) -> dict[int, int]:
    """The highest recommendation of each minute that reaches into the window, with a new one. Keys: minutes."""
    minute, oldest = int(now_s // MINUTE_S), now_s - bounds.patience_min * MINUTE_S
    kept = {at: peak for at, peak in peaks.items() if (at + 1) * MINUTE_S > oldest and at <= minute}
    return {**kept, minute: max(number, kept.get(minute, 0))}


def wanted(current: int, number: int, peaks: Mapping[int, int], steady_s: float, bounds: Bounds) -> int:
    """Of `number`, recommended now, and those `remembered`. `steady_s`: since when what serves is watched at all."""
    if number >= current:
        return number
    if steady_s < bounds.patience_min * MINUTE_S:
        return bounds.within(current)
    return bounds.within(min(current, max(peaks.values(), default=number)))
