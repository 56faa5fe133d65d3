"""A batch of points as arrays: grouped by series, steps given to those without one, and what each series gains."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from apps.tracking.points import Point, Points, microseconds

Slots = NDArray[np.uint16]


@dataclass(frozen=True, slots=True)
class Gain:
    """What one series gains by a batch. Least and greatest are of finite values: None where there are none."""

    count: int
    odd: int
    first_step: int
    first_moment: int
    last_value: float
    last_step: int
    last_moment: int
    min_value: float | None
    min_step: int | None
    max_value: float | None
    max_step: int | None


@dataclass(frozen=True, slots=True)
class Batch:
    """`slots`: for each point its place in `names`."""

    names: tuple[str, ...]
    slots: Slots
    points: Points


def batch_of(points: Sequence[Point], last_steps: Mapping[str, int | None]) -> Batch:
    """In order of arrival. `last_steps`: of series that have points already."""
    places: dict[str, int] = {}
    slots = np.fromiter((places.setdefault(each.name, len(places)) for each in points), np.uint16, len(points))
    steps = _steps(points, dict(last_steps))
    values = np.fromiter((each.value for each in points), np.float64, len(points))
    return Batch(tuple(places), slots, Points(steps, microseconds((each.at for each in points), len(points)), values))


def gains(batch: Batch) -> list[Gain]:
    """One for each name, in their order."""
    return [_gain(each) for each in by_slot(batch.slots, batch.points, len(batch.names))]


def by_slot(slots: Slots, points: Points, count: int) -> list[Points]:
    """The points of each slot, in the order in which they are."""
    if count == 1:
        return [points]
    order = np.argsort(slots, kind="stable")
    ends = np.searchsorted(slots[order], np.arange(1, count))
    grouped = points[order]
    bounds = [0, *ends.tolist(), len(points)]
    return [grouped[start:end] for start, end in pairwise(bounds)]


def _steps(points: Sequence[Point], last: dict[str, int | None]) -> NDArray[np.int64]:
    if all(each.step is not None for each in points):
        return np.fromiter((each.step or 0 for each in points), np.int64, len(points))
    found = np.empty(len(points), np.int64)
    for number, point in enumerate(points):
        step = point.step
        if step is None:
            before = last.get(point.name)
            step = 0 if before is None else before + 1
        found[number] = last[point.name] = step
    return found


def _gain(points: Points) -> Gain:
    values = points.values
    last = len(values) - 1
    # The usual case first: a thousand series with a point each have no time for arrays.
    if not last:
        low: int | None = 0 if np.isfinite(values[0]) else None
        high, odd = low, int(low is None)
    else:
        low, high, odd = _extremes(values)
    return Gain(
        count=len(values),
        odd=odd,
        first_step=int(points.steps[0]),
        first_moment=int(points.moments[0]),
        last_value=float(values[last]),
        last_step=int(points.steps[last]),
        last_moment=int(points.moments[last]),
        min_value=None if low is None else float(values[low]),
        min_step=None if low is None else int(points.steps[low]),
        max_value=None if high is None else float(values[high]),
        max_step=None if high is None else int(points.steps[high]),
    )


def _extremes(values: NDArray[np.float64]) -> tuple[int | None, int | None, int]:
    """Where the least and the greatest finite value first are, and how many are not finite."""
    finite = np.isfinite(values)
    odd = len(values) - int(np.count_nonzero(finite))
    if not odd:
        return int(values.argmin()), int(values.argmax()), 0
    if odd == len(values):
        return None, None, odd
    low = np.where(finite, values, np.inf).argmin()
    high = np.where(finite, values, -np.inf).argmax()
    return int(low), int(high), odd
