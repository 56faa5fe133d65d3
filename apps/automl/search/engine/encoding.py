"""A space as the unit cube, and as the features that a surrogate learns from.

Each parameter is one coordinate of the cube, by its logarithm where it is searched so. Among the features a categorical
parameter has one column for each choice, any other its coordinate, moved to the nearest value that it can have. A
parameter that is not active has the same features everywhere, so what it would be makes no difference.
"""

import math
from collections.abc import Mapping

import numpy as np
import numpy.typing as npt

from apps.automl.search.engine.study import external
from apps.automl.search.space import Parameter, ParameterKind, Space, Value
from apps.automl.search.space.parameters import is_active

Floats = npt.NDArray[np.float64]
Flags = npt.NDArray[np.bool_]
# Two choices are as far from each other as the two ends of a number.
ONE_HOT = math.sqrt(0.5)


class Encoding:
    """How this space is encoded."""

    def __init__(self, space: Space) -> None:
        self.parameters = space.parameters
        self.dimensions = len(space.parameters)
        self._at = {parameter.name: at for at, parameter in enumerate(space.parameters)}

    def unit(self, values: Mapping[str, Value]) -> Floats:
        """A point of the cube; 0.5 where a parameter has no value."""
        return np.array(
            [_unit(each, values[each.name]) if each.name in values else 0.5 for each in self.parameters], dtype=float
        )

    def values(self, unit: Floats) -> dict[str, Value]:
        """The values of the active parameters at a point of the cube."""
        values: dict[str, Value] = {}
        for parameter, coordinate in zip(self.parameters, unit, strict=True):
            if is_active(parameter, values):
                values[parameter.name] = _value(parameter, float(coordinate))
        return values

    def features(self, units: Floats) -> Floats:
        """The features of points of the cube, one row for each."""
        active = self.active(units)
        columns = [_features(parameter, units[:, at], active[:, at]) for at, parameter in enumerate(self.parameters)]
        return np.hstack(columns)

    def value(self, name: str, coordinate: float) -> Value:
        """What a parameter is at its coordinate."""
        return _value(self.parameters[self._at[name]], coordinate)

    def active(self, units: Floats) -> Flags:
        """Whether each parameter has a value at these points, one row for each of them."""
        active = np.ones(units.shape, dtype=bool)
        for at, parameter in enumerate(self.parameters):
            condition = parameter.condition
            if condition is None:
                continue
            other = self._at[condition.parameter]
            parent = self.parameters[other]
            wanted = [index for value in condition.values if (index := parent.index_of(value)) is not None]
            active[:, at] = active[:, other] & np.isin(_indices(parent, units[:, other]), wanted)
        return active


def _features(parameter: Parameter, units: Floats, active: Flags) -> Floats:
    if parameter.kind is ParameterKind.CATEGORICAL:
        one_hot = np.eye(len(parameter.choices))[_indices(parameter, units)] * ONE_HOT
        return np.where(active[:, None], one_hot, 0.0)
    return np.where(active, _snapped(parameter, units), 0.5)[:, None]


def _snapped(parameter: Parameter, units: Floats) -> Floats:
    size = parameter.size()
    if size is None:
        return units
    if size == 1:
        return np.full(units.shape, 0.5)
    indices = _indices(parameter, units)
    if not parameter.log:
        return indices / (size - 1)
    low, high = parameter.low or 1, parameter.high or 1
    logs: Floats = np.log((low + indices) / low) / math.log(high / low)
    return logs


def _indices(parameter: Parameter, units: Floats) -> npt.NDArray[np.int64]:
    """The index of the value at each coordinate, of a parameter whose values can be counted."""
    size = parameter.size() or 1
    if parameter.log and size > 1:
        low, high = parameter.low or 1, parameter.high or 1
        places = np.round(low * np.exp(units * math.log(high / low)) - low)
    else:
        places = np.floor(units * size)
    return np.clip(places, 0, size - 1).astype(np.int64)


def _unit(parameter: Parameter, value: Value) -> float:
    size = parameter.size()
    if size is not None and not (parameter.log and size > 1):
        return ((parameter.index_of(value) or 0) + 0.5) / size
    low, high = parameter.low or 0, parameter.high or 0
    if parameter.log:
        return math.log(float(value) / low) / math.log(high / low)
    return (float(value) - low) / (high - low)


def _value(parameter: Parameter, coordinate: float) -> Value:
    size = parameter.size()
    if size is not None:
        return parameter.nth(int(_indices(parameter, np.array([coordinate]))[0]))
    low, high = parameter.low or 0, parameter.high or 0
    number = low * math.exp(coordinate * math.log(high / low)) if parameter.log else low + coordinate * (high - low)
    return external(parameter, number)
