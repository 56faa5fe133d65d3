"""How values get into the arguments and variables of a program: those of a trial, or of a step of a pipeline. Pure."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from django.db import models
from django.utils.translation import pgettext_lazy

Pair = tuple[str, str]
Value = str | int | float | bool
LONGEST = 100
_ARGUMENT = re.compile(r"[A-Za-z0-9_.+\-][A-Za-z0-9_.:/+\-]*=?")
_VARIABLE = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")


class PlacedAs(models.TextChoices):
    """How a program gets the value of a parameter."""

    ARGUMENT = "argument", pgettext_lazy("parameter", "Argument")
    VARIABLE = "variable", pgettext_lazy("parameter", "Environment variable")


@dataclass(frozen=True, slots=True)
class Placement:
    """An argument whose name ends in `=` is one word with its value, as Hydra's overrides are: `model.lr=0.1`."""

    placed_as: PlacedAs
    name: str

    def as_json(self) -> dict[str, Any]:
        return {"as": self.placed_as.value, "name": self.name}

    @classmethod
    def from_json(cls, said: Mapping[str, Any]) -> "Placement":
        return cls(PlacedAs(said["as"]), said["name"])

    @property
    def is_valid(self) -> bool:
        allowed = _ARGUMENT if self.placed_as is PlacedAs.ARGUMENT else _VARIABLE
        return len(self.name) <= LONGEST and allowed.fullmatch(self.name) is not None


@dataclass(frozen=True, slots=True)
class Placed:
    """The rows of a run's form."""

    arguments: tuple[Pair, ...]
    environment: tuple[Pair, ...]


def default_placement(parameter: str) -> Placement:
    return Placement(PlacedAs.ARGUMENT, f"--{parameter}")


def place(
    arguments: Sequence[Pair],
    environment: Sequence[Pair],
    placements: Mapping[str, Placement],
    values: Mapping[str, Value],
) -> Placed:
    """The template's rows with the values in their places.

    A row of a parameter that has no value here, because its condition does not hold, is left out: what the template
    said of it was of the template alone.
    """
    rows, variables = list(arguments), list(environment)
    for parameter, placement in placements.items():
        found = [text_of(values[parameter])] if parameter in values else []
        if placement.placed_as is PlacedAs.ARGUMENT:
            rows = _with_argument(rows, placement.name, found)
        else:
            variables = _replaced(variables, [(placement.name, text) for text in found], _called(placement.name))
    return Placed(tuple(rows), tuple(variables))


def text_of(value: Value) -> str:
    """As programs read it: true and false, whole numbers without a point, all digits of the others."""
    if isinstance(value, bool):
        return "true" if value else "false"
    return repr(value) if isinstance(value, float) else str(value)


def _with_argument(rows: list[Pair], name: str, found: list[str]) -> list[Pair]:
    if name.endswith("="):
        return _replaced(rows, [(name + text, "") for text in found], lambda row: f"{row[0]}{row[1]}".startswith(name))
    return _replaced(rows, [(name, text) for text in found], _called(name))


def _called(name: str) -> Any:
    return lambda row: row[0] == name


def _replaced(rows: list[Pair], new: list[Pair], is_old: Any) -> list[Pair]:
    """In the place of the first old row; at the end where there is none."""
    first = next((place for place, row in enumerate(rows) if is_old(row)), len(rows))
    kept = [row for row in rows[:first] if not is_old(row)]
    return [*kept, *new, *(row for row in rows[first:] if not is_old(row))]
