"""Points of metrics: what is recorded, what is refused, and how many of them are handled at once as arrays."""

import math
import time
import unicodedata
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from django.utils.translation import gettext as _
from numpy.typing import NDArray

from apps.common.errors import Conflict, Invalid

LONGEST_NAME = 250
MOST_NAMES = 5_000
"""In one run."""
MOST_POINTS = 50_000_000
"""In one run."""
MOST_AT_ONCE = 100_000
AHEAD_S = 86_400.0
"""Clocks of machines differ; a time further ahead than a day is a wrong unit, and would squeeze a chart to nothing."""
MICROSECONDS = 1_000_000
_LARGEST_STEP = 2**63 - 1

Integers = NDArray[np.int64]
Floats = NDArray[np.float64]


class LimitReached(Conflict):
    """A run holds as much as it may. What it has stays."""

    code = "tracking_limit"


@dataclass(frozen=True, slots=True)
class Point:
    """One measurement. `step` None: one more than the last of its series. `at`: Unix seconds.

    `value` may be NaN or infinite: that a loss became so is what its owner looks for.
    """

    name: str
    value: float
    step: int | None
    at: float


@dataclass(frozen=True, slots=True)
class Points:
    """Points of one series, or of a batch, in the order in which they arrived. `moments`: Unix microseconds."""

    steps: Integers
    moments: Integers
    values: Floats

    def __len__(self) -> int:
        return len(self.values)

    def __getitem__(self, chosen: "slice | NDArray[np.intp] | NDArray[np.bool_]") -> "Points":
        return Points(self.steps[chosen], self.moments[chosen], self.values[chosen])


def joined(parts: Sequence[Points]) -> Points:
    """In this order."""
    if not parts:
        return Points(np.empty(0, np.int64), np.empty(0, np.int64), np.empty(0, np.float64))
    return Points(
        np.concatenate([each.steps for each in parts]),
        np.concatenate([each.moments for each in parts]),
        np.concatenate([each.values for each in parts]),
    )


def check(points: Sequence[Point], *, now: float | None = None) -> None:
    """Raise `Invalid` with the number of the first point that cannot be kept, and why."""
    if len(points) > MOST_AT_ONCE:
        raise Invalid(_("At most %(most)s points at once.") % {"most": MOST_AT_ONCE}, hint=_("Send them in parts."))
    latest = (time.time() if now is None else now) + AHEAD_S
    known: set[str] = set()
    for number, point in enumerate(points):
        if point.name not in known:
            check_name(point.name, f"points.{number}.name")
            known.add(point.name)
        if not 0 <= point.at <= latest:  # also false for NaN
            raise Invalid.field(f"points.{number}.at", _("A time in Unix seconds that is not in the future is needed."))
        if point.step is not None and not -_LARGEST_STEP <= point.step < _LARGEST_STEP:
            raise Invalid.field(f"points.{number}.step", _("A whole number of at most 64 bits is needed."))


def check_name(name: str, field: str) -> None:
    """Any characters that can be seen, as the field's tools write them: `train/loss`, `精度`, `val loss (%)`."""
    if not 0 < len(name) <= LONGEST_NAME:
        raise Invalid.field(field, _("From 1 to %(most)s characters are needed.") % {"most": LONGEST_NAME})
    if name != name.strip() or any(unicodedata.category(each) in ("Cc", "Cs", "Zl", "Zp") for each in name):
        raise Invalid.field(field, _("No spaces at its ends, and no control characters."))


def microseconds(times: Iterable[float], count: int) -> Integers:
    seconds = np.fromiter(times, np.float64, count)
    return np.asarray(np.rint(seconds * MICROSECONDS), np.int64)


def is_finite(value: float | None) -> bool:
    return value is not None and math.isfinite(value)
