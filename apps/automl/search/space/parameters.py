"""What may be tried: parameters with bounds or choices, and on which others they depend."""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

Value = str | int | float | bool
Json = dict[str, Any]


class ParameterKind(StrEnum):
    DOUBLE = "double"
    INT = "int"
    CATEGORICAL = "categorical"
    DISCRETE = "discrete"


@dataclass(frozen=True, slots=True, kw_only=True)
class Condition:
    """The parameter is active only where the other one is, and has one of these values."""

    parameter: str
    values: tuple[Value, ...]

    def as_json(self) -> Json:
        return {"parameter": self.parameter, "values": list(self.values)}

    @classmethod
    def from_json(cls, said: Mapping[str, Any]) -> "Condition":
        return cls(parameter=said["parameter"], values=tuple(said["values"]))


@dataclass(frozen=True, slots=True, kw_only=True)
class Parameter:
    """DOUBLE and INT lie between `low` and `high`, both included; CATEGORICAL and DISCRETE are one of `choices`.

    The choices of a DISCRETE parameter are numbers. Their order in the tuple is the one that its owner wrote; a
    search goes by their size.
    """

    name: str
    kind: ParameterKind
    low: float | None = None
    high: float | None = None
    step: float | None = None
    log: bool = False
    choices: tuple[Value, ...] = ()
    condition: Condition | None = None

    def as_json(self) -> Json:
        return {
            "name": self.name,
            "kind": self.kind.value,
            "low": self.low,
            "high": self.high,
            "step": self.step,
            "log": self.log,
            "choices": list(self.choices),
            "condition": self.condition.as_json() if self.condition else None,
        }

    @classmethod
    def from_json(cls, said: Mapping[str, Any]) -> "Parameter":
        condition = said.get("condition")
        return cls(
            name=said["name"],
            kind=ParameterKind(said["kind"]),
            low=said.get("low"),
            high=said.get("high"),
            step=said.get("step"),
            log=bool(said.get("log", False)),
            choices=tuple(said.get("choices") or ()),
            condition=Condition.from_json(condition) if condition else None,
        )

    @property
    def numbered(self) -> bool:
        """Whether it lies between bounds, and is not one of its choices."""
        return self.kind in (ParameterKind.DOUBLE, ParameterKind.INT)

    @property
    def spacing(self) -> float | None:
        """The distance of two neighbours; None where there is always a value between two."""
        return self.step or (1 if self.kind is ParameterKind.INT else None)

    @property
    def stepped(self) -> bool:
        """Whether it is a real number that moves in steps."""
        return self.kind is ParameterKind.DOUBLE and self.step is not None and self.low != self.high

    def size(self) -> int | None:
        """How many values it can have; None where they cannot be counted."""
        if not self.numbered:
            return len(self.choices)
        if self.low is None or self.high is None:
            return 0
        if self.low == self.high:
            return 1
        return None if self.spacing is None else steps(self.low, self.high, self.spacing) + 1

    def nth(self, index: int) -> Value:
        """The value with this index, from the smallest on; choices of words stand as written."""
        if self.kind is ParameterKind.CATEGORICAL:
            return self.choices[index]
        if self.kind is ParameterKind.DISCRETE:
            return sorted(self.choices, key=_number)[index]
        value = (self.low or 0) + index * (self.spacing or 0)
        return round(value) if self.kind is ParameterKind.INT else min(value, self.high or 0)

    def index_of(self, value: Value) -> int | None:
        """The index at which `nth` has this value; None where it cannot have it, or where its values have none."""
        if not self.contains(value) or (self.numbered and self.spacing is None and self.low != self.high):
            return None
        if self.kind is ParameterKind.CATEGORICAL:
            return next(index for index, choice in enumerate(self.choices) if same(choice, value))
        if self.kind is ParameterKind.DISCRETE:
            return sorted(self.choices, key=_number).index(value)
        return round((_number(value) - (self.low or 0)) / (self.spacing or 1))

    def contains(self, value: Value) -> bool:
        """Whether it can have this value."""
        if not self.numbered:
            return any(same(value, choice) for choice in self.choices)
        if isinstance(value, (str, bool)) or self.low is None or self.high is None:
            return False
        return self.low <= value <= self.high and self._on_a_step(value)

    def _on_a_step(self, value: float) -> bool:
        if self.spacing is None or self.low is None:
            return True
        steps_up = (value - self.low) / self.spacing
        return math.isclose(steps_up, round(steps_up), abs_tol=1e-6)


@dataclass(frozen=True, slots=True, kw_only=True)
class Space:
    """Parameters, each after the one that its condition names (`problems` says where not)."""

    parameters: tuple[Parameter, ...]

    def as_json(self) -> Json:
        return {"parameters": [parameter.as_json() for parameter in self.parameters]}

    @classmethod
    def from_json(cls, said: Mapping[str, Any]) -> "Space":
        return cls(parameters=tuple(Parameter.from_json(each) for each in said["parameters"]))

    def contains(self, values: Mapping[str, Value]) -> bool:
        """Whether these are values of the parameters that are active with them, and of no other."""
        active = {each.name: each for each in self.parameters if is_active(each, values)}
        return active.keys() == values.keys() and all(active[name].contains(value) for name, value in values.items())


def is_active(parameter: Parameter, values: Mapping[str, Value]) -> bool:
    """Whether a trial with these values of the parameters before it has a value of this one."""
    condition = parameter.condition
    if condition is None:
        return True
    return condition.parameter in values and any(same(values[condition.parameter], each) for each in condition.values)


def same(one: Value, other: Value) -> bool:
    """Whether two values are one: 1 and 1.0 are, 1 and true are not."""
    return one == other and isinstance(one, bool) == isinstance(other, bool)


def steps(low: float, high: float, spacing: float) -> int:
    """How many whole steps lie between the bounds, forgiving what binary fractions lose: 0 to 0.3 has 3 of 0.1."""
    return math.floor((high - low) / spacing + 1e-9)


def _number(value: Value) -> float:
    return float(value)
