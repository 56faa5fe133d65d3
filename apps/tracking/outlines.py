"""What a chart from afar needs of a chunk: of each few dozen points the extremes, the last and the first odd.

Only points that go forward have an outline: a group of them then lies in one place of the axis, and its extremes stand
for it wherever buckets are much wider than a group.
"""

import numpy as np
from numpy.typing import NDArray

from apps.tracking.points import Points

GROUP = 64
LEAST = 8 * GROUP
"""Fewer points have none: they are read as fast as it would be."""
WIDER = 4
"""Of how many groups a bucket is made at least, where outlines are read."""


def outline_of(points: Points) -> Points | None:
    if len(points) < LEAST or not (_rises(points.steps) and _rises(points.moments)):
        return None
    starts = np.arange(0, len(points), GROUP)
    finite = np.isfinite(points.values)
    low = _least(np.where(finite, points.values, np.inf), starts)
    high = _least(np.where(finite, -points.values, np.inf), starts)
    odd = _least(finite.astype(np.float64), starts)
    last = np.minimum(starts + GROUP, len(points)) - 1
    chosen = np.unique(np.concatenate([low, high, last, odd[~finite[odd]]]))
    return points[chosen]


def _rises(column: NDArray[np.int64]) -> bool:
    return bool((column[1:] >= column[:-1]).all())


def _least(values: NDArray[np.float64], starts: NDArray[np.intp]) -> NDArray[np.intp]:
    """Where in each group the first of its least values is; the last group is filled up with its last value."""
    missing = len(starts) * GROUP - len(values)
    groups = np.pad(values, (0, missing), mode="edge").reshape(-1, GROUP)
    found: NDArray[np.intp] = np.minimum(starts + groups.argmin(axis=1), len(values) - 1)
    return found
