"""Parameters as rows of a form: typed text becomes a `Parameter`, and what is wrong with it stands beside it."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import zip_longest
from typing import Any

from django.http import QueryDict
from django.utils.translation import gettext as _

from apps.automl.search.space import Condition, Parameter, ParameterKind, Value
from apps.training.placing import PlacedAs, Placement, text_of

PREFIX = "parameter_"
FIELDS = ("name", "placed_name", "placed_as", "kind", "low", "high", "step", "scale", "choices", "when")
LOG = "log"
MOST_ROWS = 60


@dataclass(slots=True)
class ParameterRow:
    """`typed` by `FIELDS`; `errors` likewise, and those of the service."""

    typed: dict[str, str]
    errors: dict[str, str] = field(default_factory=dict)

    @property
    def is_empty(self) -> bool:
        return not any(self.typed[name].strip() for name in ("name", "placed_name", "low", "high", "choices"))

    @property
    def kind(self) -> ParameterKind:
        typed = self.typed["kind"]
        return ParameterKind(typed) if typed in list(ParameterKind) else ParameterKind.DOUBLE

    @property
    def placement(self) -> Placement:
        """An argument of the parameter's own name, unless another one is typed."""
        placed = PlacedAs(self.typed["placed_as"]) if self.typed["placed_as"] in PlacedAs else PlacedAs.ARGUMENT
        name = self.typed["placed_name"].strip()
        if not name:
            own = self.typed["name"].strip()
            name = f"--{own}" if placed is PlacedAs.ARGUMENT else own.upper().replace("-", "_").replace(".", "_")
        return Placement(placed, name)

    def parameter(self) -> Parameter:
        """What was typed, as far as it can be read; `errors` says what cannot."""
        numbered = self.kind in (ParameterKind.DOUBLE, ParameterKind.INT)
        return Parameter(
            name=self.typed["name"].strip(),
            kind=self.kind,
            low=self._number("low") if numbered else None,
            high=self._number("high") if numbered else None,
            step=self._number("step") if numbered else None,
            log=numbered and self.typed["scale"] == LOG,
            choices=() if numbered else self._choices(),
            condition=self._condition(),
        )

    def _number(self, name: str) -> float | None:
        text = self.typed[name].strip().replace(",", "")
        if not text:
            return None
        try:
            number = float(text)
        except ValueError:
            self.errors[name] = _("This is no number.")
            return None
        return (
            int(number)
            if self.kind is ParameterKind.INT and math.isfinite(number) and number == int(number)
            else number
        )

    def _choices(self) -> tuple[Value, ...]:
        return tuple(value_of(text) for text in split(self.typed["choices"]))

    def _condition(self) -> Condition | None:
        text = self.typed["when"].strip()
        if not text:
            return None
        name, equals, values = text.partition("=")
        if not equals:
            self.errors["condition"] = _("Write it as optimizer = sgd, adam.")
            return None
        return Condition(parameter=name.strip(), values=tuple(value_of(each) for each in split(values)))


def rows_of(data: QueryDict) -> list[ParameterRow]:
    """The rows of a posted form, without those that nothing was typed into."""
    columns = [data.getlist(f"{PREFIX}{name}") for name in FIELDS]
    rows = [ParameterRow(dict(zip(FIELDS, cells, strict=True))) for cells in zip_longest(*columns, fillvalue="")]
    return [row for row in rows[:MOST_ROWS] if not row.is_empty]


def rows_for(parameters: Sequence[Parameter], placements: Mapping[str, Placement]) -> list[ParameterRow]:
    """The rows that say these parameters."""
    return [ParameterRow(_typed(each, placements[each.name])) for each in parameters]


def empty_row() -> ParameterRow:
    return ParameterRow({**dict.fromkeys(FIELDS, ""), "kind": ParameterKind.DOUBLE.value})


def put_errors(rows: Sequence[ParameterRow], fields: Mapping[str, Any]) -> dict[str, Any]:
    """Errors `parameters.<index>.<field>` beside their rows; what is left."""
    rest = {}
    for name, text in fields.items():
        first, _dot, after = name.partition(".")
        index, _dot, column = after.partition(".")
        if first == "parameters" and index.isdigit() and int(index) < len(rows):
            rows[int(index)].errors.setdefault(column, str(text))
        else:
            rest[name] = text
    return rest


def split(text: str) -> list[str]:
    """Values separated by commas, Chinese ones too."""
    return [each.strip() for each in text.replace("，", ",").split(",") if each.strip()]


def value_of(text: str) -> Value:
    """A number where it is written as one, true and false, else the words themselves."""
    if text.lower() in ("true", "false"):
        return text.lower() == "true"
    for read in (int, float):
        try:
            return read(text)
        except ValueError:
            continue
    return text


def _typed(parameter: Parameter, placement: Placement) -> dict[str, str]:
    condition = parameter.condition
    return {
        "name": parameter.name,
        "placed_name": placement.name,
        "placed_as": placement.placed_as.value,
        "kind": parameter.kind.value,
        **{name: _text(getattr(parameter, name)) for name in ("low", "high", "step")},
        "scale": LOG if parameter.log else "",
        "choices": ", ".join(text_of(each) for each in parameter.choices),
        "when": f"{condition.parameter} = {', '.join(text_of(each) for each in condition.values)}" if condition else "",
    }


def _text(number: float | None) -> str:
    return "" if number is None else f"{number:g}"
