"""A series as a chart shows it: per bucket of the axis the least, the greatest and the last value, so no spike is lost.

Where a series goes back to a lower step (a resumed run), nothing is hidden: on the axis of steps its buckets hold what
came before and after, the line follows what arrived last, and `restarts` says where it went back.
"""

import math
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from apps.tracking.points import Floats, Points

MOST_MARKS = 100


@dataclass(frozen=True, slots=True)
class Bucket:
    """`x`: the place on the axis of its last point: a step, or Unix seconds."""

    x: float
    low: float
    high: float
    last: float


@dataclass(frozen=True, slots=True)
class Mark:
    """A value that has no place on a chart: NaN or infinite."""

    x: float
    value: float


@dataclass(frozen=True, slots=True)
class Sample:
    buckets: list[Bucket]
    marks: list[Mark]
    restarts: list[float]


def sample(points: Points, xs: Floats, limits: tuple[float, float], most: int) -> Sample:
    """At most `most` buckets of equal width between the limits. `points` in order of arrival, `xs` their places."""
    finite = np.isfinite(points.values)
    marks = _marks(xs[~finite], points.values[~finite])
    back = xs[1:][points.steps[1:] < points.steps[:-1]]
    xs, values = xs[finite], points.values[finite]
    return Sample(list(_buckets(xs, values, limits, most)), marks, back[:MOST_MARKS].tolist())


def _buckets(xs: Floats, values: Floats, limits: tuple[float, float], most: int) -> Iterator[Bucket]:
    if not len(xs):
        return
    places = _places(xs, limits, most) if len(xs) > most else _ranks(xs)
    if (places[1:] < places[:-1]).any():
        order = np.argsort(places, kind="stable")  # what arrived last stays last in its bucket
        xs, values, places = xs[order], values[order], places[order]
    starts = np.flatnonzero(np.diff(places, prepend=places[0] - 1))
    ends = np.append(starts[1:], len(xs)) - 1
    columns = (xs[ends], np.minimum.reduceat(values, starts), np.maximum.reduceat(values, starts), values[ends])
    for x, low, high, last in zip(*(each.tolist() for each in columns), strict=True):
        yield Bucket(x, low, high, last)


def _places(xs: Floats, limits: tuple[float, float], most: int) -> NDArray[np.int64]:
    low, high = limits
    width = math.nextafter(high - low, math.inf) / most or 1.0
    return np.minimum(((xs - low) / width).astype(np.int64), most - 1)


def _ranks(xs: Floats) -> NDArray[np.int64]:
    """Few points: one bucket for each place of the axis."""
    return np.unique(xs, return_inverse=True)[1].astype(np.int64)


def _marks(xs: Floats, values: Floats) -> list[Mark]:
    """Evenly chosen where they are many; how many there are is counted elsewhere."""
    if len(xs) > MOST_MARKS:
        chosen = np.unique(np.linspace(0, len(xs) - 1, MOST_MARKS).astype(np.int64))
        xs, values = xs[chosen], values[chosen]
    return [Mark(x, value) for x, value in zip(xs.tolist(), values.tolist(), strict=True)]
