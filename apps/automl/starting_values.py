"""Where a search of a run's arguments may begin: ranges around the values that the run was given."""

import math

from apps.automl.rows import ParameterRow, rows_for
from apps.automl.search.space import Parameter, ParameterKind
from apps.training.models import Run
from apps.training.placing import PlacedAs, Placement

MOST_GUESSED = 3
# What people search most; others are offered, and not filled in.
_LIKELY = ("lr", "learning", "batch", "dropout", "decay", "hidden", "layers", "momentum", "depth", "alpha", "units")


def guessed_rows(run: Run) -> list[ParameterRow]:
    """Of the run's numeric arguments those that are searched most, from a tenth to ten times of a rate, and from a
    quarter to four times of a whole number."""
    found = []
    for name, value in run.arguments:
        parameter = _parameter(name, value)
        if parameter is not None and any(word in name.lower() for word in _LIKELY):
            found.append((parameter, Placement(PlacedAs.ARGUMENT, name)))
    chosen = found[:MOST_GUESSED]
    placements = {parameter.name: placement for parameter, placement in chosen}
    return (
        rows_for([parameter for parameter, _placement in chosen], placements) if len(placements) == len(chosen) else []
    )


def _parameter(name: str, value: str) -> Parameter | None:
    called = name.lstrip("-").replace("-", "_")
    try:
        number = float(value)
    except ValueError:
        return None
    if not called.isidentifier() or not math.isfinite(number) or number <= 0:
        return None
    if number == int(number) and "." not in value and "e" not in value.lower():
        low, high = max(1, int(number) // 4), max(2, int(number) * 4)
        return Parameter(name=called, kind=ParameterKind.INT, low=low, high=high)
    return Parameter(name=called, kind=ParameterKind.DOUBLE, low=number / 10, high=number * 10, log=True)
