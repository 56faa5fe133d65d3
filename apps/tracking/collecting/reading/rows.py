"""What a row of a file says: the numbers of one JSON object, or of one line under a CSV header."""

from collections.abc import Iterable, Mapping
from typing import Any

from apps.tracking.collecting.reading.names import LONGEST, is_none
from apps.tracking.collecting.reading.numbers import to_step
from apps.tracking.points import Point

STEP_COLUMNS = ("step", "global_step", "_step", "iteration", "iter", "num_updates", "round")
EPOCH = "epoch"
TIME_COLUMNS = ("timestamp", "wall_time", "_timestamp", "ts", "time")
_EARLIEST, _LATEST = 946_684_800.0, 4_102_444_800.0
"""2000 and 2100: numbers outside are seconds since a start, or no times at all."""


def points_of(numbers: Mapping[str, float], *, prefix: str, at: float) -> list[Point]:
    """Its metrics; a file that is there for metrics needs no names that are known. `at`: where it gives no time."""
    small = {name.strip().lower(): value for name, value in numbers.items()}
    step = step_in(small)
    moment = next((small[name] for name in TIME_COLUMNS if _EARLIEST < small.get(name, 0.0) < _LATEST), at)
    return [
        Point(named, value, step, moment)
        for name, value in numbers.items()
        if (named := name_in_file(name, prefix)) and not _is_place(name)
    ]


def step_in(small: Mapping[str, float]) -> int | None:
    """Its step, else its iteration, else its epoch if that is a whole number."""
    steps = (to_step(small[name]) for name in (*STEP_COLUMNS, EPOCH) if name in small)
    return next((step for step in steps if step is not None), None)


def _is_place(name: str) -> bool:
    small = name.strip().lower()
    return small in STEP_COLUMNS or small in TIME_COLUMNS or small == EPOCH or is_none(name)


def name_in_file(name: str, prefix: str = "") -> str:
    """How the metric is called; empty for a name that cannot be kept."""
    joined = f"{prefix}{name.strip()}"
    return joined if joined.isprintable() and name.strip() and len(joined) <= LONGEST else ""


def history(data: Any) -> list[dict[str, Any]]:
    """The rows of a JSON document: a list of objects, the log of Hugging Face's trainer, lists of equal length as
    Keras's `History` has them, or one object as one row."""
    if isinstance(data, Mapping) and isinstance(data.get("log_history"), list):
        data = data["log_history"]
    if isinstance(data, list):
        return [row for row in data if isinstance(row, dict)]
    if not isinstance(data, dict):
        return []
    lists = {name: value for name, value in data.items() if isinstance(value, list) and _are_numbers(value)}
    if not lists:
        return [data]
    longest = max(map(len, lists.values()))
    return [
        {"step": place, **{name: values[place] for name, values in lists.items() if place < len(values)}}
        for place in range(longest)
    ]


def _are_numbers(values: Iterable[Any]) -> bool:
    return all(isinstance(value, int | float) and not isinstance(value, bool) for value in values)
