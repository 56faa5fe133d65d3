"""The results over two parameters, by a surrogate."""

from collections.abc import Sequence

import numpy as np

from apps.automl.search.engine.encoding import Encoding, Floats
from apps.automl.search.engine.surrogate import finite, fit, known
from apps.automl.search.failures import SearchFailed
from apps.automl.search.goals import Direction
from apps.automl.search.inquiry import Inquiry, PastTrial
from apps.automl.search.landscape import MOST_CELLS, Landscape, Spot
from apps.automl.search.space import Parameter

LEAST_TRIALS = 5


def landscape(inquiry: Inquiry, across: str, up: str) -> Landscape:
    """The first objective over two parameters, as a Gaussian process of all complete trials expects it.

    The other parameters are as in the best trial; those that it does not have are in the middle of their range.
    Raises `SearchFailed`: `few_trials`, or `unknown_parameter`.
    """
    places = {each.name: place for place, each in enumerate(inquiry.space.parameters)}
    if across == up or across not in places or up not in places:
        raise SearchFailed("unknown_parameter")
    trials = known(inquiry)
    if len(trials) < LEAST_TRIALS:
        raise SearchFailed("few_trials")
    sign = 1.0 if inquiry.objectives[0].direction is Direction.MINIMIZE else -1.0
    losses = finite(sign * np.array([(trial.objectives or (0.0,))[0] for trial in trials]))
    encoding = Encoding(inquiry.space)
    units = np.array([encoding.unit(trial.values) for trial in trials])
    surrogate = fit(encoding.features(units), losses)
    x, y = places[across], places[up]
    columns, rows = (_middles(inquiry.space.parameters[place]) for place in (x, y))
    grid = np.tile(units[int(np.argmin(losses))], (len(rows) * len(columns), 1))
    grid[:, x], grid[:, y] = np.tile(columns, len(rows)), np.repeat(rows, len(columns))
    means = sign * (surrogate.mean + surrogate.scale * surrogate.process.predict(encoding.features(grid)))
    both = encoding.active(grid)[:, x] & encoding.active(grid)[:, y]
    cells = np.where(both, means, np.nan).reshape(len(rows), len(columns))
    return Landscape(
        xs=tuple(encoding.value(across, place) for place in columns),
        ys=tuple(encoding.value(up, place) for place in rows),
        cells=tuple(tuple(None if np.isnan(cell) else float(cell) for cell in row) for row in cells),
        spots=_spots(trials, units, x, y, inquiry.space.parameters),
    )


def _middles(parameter: Parameter) -> Floats:
    """Where the cells of a parameter have their middles."""
    count = min(parameter.size() or MOST_CELLS, MOST_CELLS)
    middles: Floats = (np.arange(count) + 0.5) / count
    return middles


def _spots(
    trials: Sequence[PastTrial], units: Floats, x: int, y: int, parameters: Sequence[Parameter]
) -> tuple[Spot, ...]:
    names = parameters[x].name, parameters[y].name
    return tuple(
        Spot(number=trial.number, across=float(unit[x]), up=float(unit[y]), value=trial.objectives[0])
        for trial, unit in zip(trials, units, strict=True)
        if trial.number >= 0 and trial.objectives and all(name in trial.values for name in names)
    )
