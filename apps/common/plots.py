"""What charts of many rows show: parallel coordinates, scatter, and an objective over trials.

Plain data that a page hands to `components/parallel.html`, `scatter.html` or `objective.html`. The shape that the
browser reads is stated in `static/src/js/plots.js`, and `plain()` writes it.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from django.utils.translation import pgettext_lazy

from apps.common.formatting import UNKNOWN

LOG_SPAN = 50.0
"""Positive numbers that lie further apart than this are told apart on a logarithmic axis only."""
MOST_ROWS = 1000
LONGEST_TEXT = 80

Value = float | str | None


class AxisKind(StrEnum):
    NUMBER = "number"
    LOG = "log"
    CATEGORY = "category"


class Better(StrEnum):
    """Which end of an axis is the aim; of a parameter, neither."""

    LOW = "low"
    HIGH = "high"


@dataclass(frozen=True, slots=True)
class Axis:
    """`key` names it in addresses; `is_shown`: whether parallel coordinates begin with it."""

    key: str
    label: str
    kind: AxisKind
    categories: tuple[str, ...] = ()
    better: Better | None = None
    is_shown: bool = True

    def plain(self) -> dict[str, Any]:
        return {
            "key": self.key,
            "label": self.label,
            "kind": self.kind.value,
            "categories": list(self.categories),
            "better": self.better.value if self.better else None,
            "shown": self.is_shown,
        }


@dataclass(frozen=True, slots=True)
class PlotRow:
    """A run or a trial: a value for each axis, in their order; None where it has none."""

    id: str
    label: str
    values: tuple[Value, ...]
    url: str = ""

    def plain(self) -> dict[str, Any]:
        values = [_finite(each) for each in self.values]
        return {"id": self.id, "label": self.label, "url": self.url, "values": values}

    @property
    def cells(self) -> list[str]:
        return [shown(each) for each in self.values]


@dataclass(frozen=True, slots=True)
class Parallel:
    """Rows and their axes, for parallel coordinates and for scatter; the first `MOST_ROWS` are drawn.

    `colour`, `across` and `up` are keys of axes that the charts begin with.
    """

    axes: tuple[Axis, ...]
    rows: tuple[PlotRow, ...]
    colour: str = ""
    across: str = ""
    up: str = ""

    def plain(self) -> dict[str, Any]:
        return {
            "axes": [each.plain() for each in self.axes],
            "rows": [each.plain() for each in self.rows[:MOST_ROWS]],
            "colour": self.colour,
            "x": self.across,
            "y": self.up,
        }

    @property
    def table_rows(self) -> tuple[PlotRow, ...]:
        return self.rows[:MOST_ROWS]

    @property
    def left_out(self) -> int:
        return max(0, len(self.rows) - MOST_ROWS)


class TrialState(StrEnum):
    COMPLETE = "complete"
    PRUNED = "pruned"
    FAILED = "failed"
    RUNNING = "running"


_STATE_WORDS = {
    TrialState.COMPLETE: pgettext_lazy("trial", "complete"),
    TrialState.PRUNED: pgettext_lazy("trial", "pruned"),
    TrialState.FAILED: pgettext_lazy("trial", "failed"),
    TrialState.RUNNING: pgettext_lazy("trial", "running"),
}


@dataclass(frozen=True, slots=True)
class Trial:
    """`number` counts from one; `value`: the objective, of a running or pruned trial its last one."""

    number: int
    state: TrialState
    value: float | None = None
    label: str = ""
    url: str = ""

    def plain(self) -> dict[str, Any]:
        return {
            "number": self.number,
            "state": self.state.value,
            "value": _finite(self.value),
            "label": self.called,
            "url": self.url,
        }

    @property
    def called(self) -> str:
        return self.label or f"#{self.number}"

    @property
    def text(self) -> str:
        return shown(self.value)

    @property
    def state_text(self) -> str:
        return str(_STATE_WORDS[self.state])


@dataclass(frozen=True, slots=True)
class Objective:
    """Trials over their number, with the best so far among those that are complete."""

    name: str
    better: Better
    trials: tuple[Trial, ...]
    goal: float | None = None

    def plain(self) -> dict[str, Any]:
        return {
            "name": self.name,
            "better": self.better.value,
            "goal": _finite(self.goal),
            "trials": [each.plain() for each in self.trials],
        }


def axis_of(
    key: str, label: str, values: Sequence[Value], *, better: Better | None = None, is_shown: bool = True
) -> Axis:
    """The axis on which these values lie: a category as soon as one of them is no number."""
    known = [each for each in values if each is not None]
    numbers = [each for each in known if not isinstance(each, str)]
    if len(numbers) < len(known):
        texts = dict.fromkeys(_text(each) for each in known)
        return Axis(key, label, AxisKind.CATEGORY, tuple(sorted(texts)), better, is_shown)
    finite = [each for each in numbers if math.isfinite(each)]
    wide = bool(finite) and min(finite) > 0 and max(finite) / min(finite) >= LOG_SPAN
    return Axis(key, label, AxisKind.LOG if wide else AxisKind.NUMBER, (), better, is_shown)


def on_axis(axis: Axis, values: Sequence[Value]) -> list[Value]:
    """The values as the axis takes them: a number among words is a word."""
    if axis.kind is not AxisKind.CATEGORY:
        return list(values)
    return [None if each is None else _text(each) for each in values]


def number_or_text(text: str) -> Value:
    """A parameter as it was written; "1e-4" is a number, "nan" is none."""
    try:
        number = float(text)
    except ValueError:
        return text[:LONGEST_TEXT]
    return number if math.isfinite(number) else text[:LONGEST_TEXT]


def shown(value: Value) -> str:
    """Five digits, as the charts write them."""
    if value is None:
        return UNKNOWN
    return value if isinstance(value, str) else f"{value:.5g}"


def _text(value: float | str) -> str:
    return value[:LONGEST_TEXT] if isinstance(value, str) else f"{value:.12g}"


def _finite(value: Value) -> Value:
    """JSON has neither NaN nor infinity: a chart has no place for them either."""
    return None if isinstance(value, float) and not math.isfinite(value) else value
