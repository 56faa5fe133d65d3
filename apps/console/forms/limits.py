"""Limits of one level: an optional number for each resource and accelerator model, in the unit that people use."""

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from django import forms
from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _

from apps.tenants.choices import Resource
from apps.tenants.quotas import Line, line_words
from apps.tenants.selectors import LevelLine
from apps.workloads import kinds

# Rows count in the first number's unit; people read and write the second.
UNITS: dict[Resource, tuple[int, str | Promise]] = {
    Resource.CPU_MILLI: (1000, _("cores")),
    Resource.MEMORY_MIB: (1024, "GiB"),
    Resource.GPU_MILLI: (1000, _("cards")),
    Resource.STORAGE_MIB: (1024, "GiB"),
    Resource.VOLUMES: (1, _("volumes")),
}


def unit(resource: Resource) -> tuple[int, str | Promise]:
    """By how much the amount of a row is divided, and how that is called; kinds of work name the unit of their own."""
    named = next((rules.quota_unit for rules in kinds.every() if rules.quota_line == resource), "")
    return UNITS.get(resource, (1, named))


@dataclass(frozen=True, slots=True)
class LimitField:
    """One line of the form as the page shows it."""

    line: LevelLine
    field: forms.BoundField
    unit: str | Promise
    used: str


class LimitsForm(forms.Form):
    """Empty means unlimited."""

    def __init__(self, data: Any = None, *, lines: Sequence[LevelLine]) -> None:
        self.lines = list(lines)
        super().__init__(data, initial={field_name(line): shown(line.resource, line.limit) for line in lines})
        for line in lines:
            self.fields[field_name(line)] = forms.DecimalField(
                label=str(line_words(line.resource, line.model)),
                required=False,
                min_value=0,
                max_digits=10,
                decimal_places=0 if unit(line.resource)[0] == 1 else 3,
                widget=forms.TextInput(
                    attrs={"inputmode": "decimal", "autocomplete": "off", "placeholder": _("unlimited")}
                ),
            )

    def rows(self) -> list[LimitField]:
        return [
            LimitField(line, self[field_name(line)], unit(line.resource)[1], shown(line.resource, line.used))
            for line in self.lines
        ]

    def limits(self) -> dict[Line, int | None]:
        """In the units of the quota's rows."""
        return {
            (line.resource, line.model): _stored(line.resource, self.cleaned_data[field_name(line)])
            for line in self.lines
        }


def field_name(line: LevelLine) -> str:
    """A name that HTML can hold, whatever a model is called; the same tomorrow, whatever other models there are."""
    if not line.model:
        return line.resource.value
    return f"{line.resource.value}-{hashlib.sha256(line.model.encode()).hexdigest()[:10]}"


def shown(resource: Resource, amount: int | None) -> str:
    """In the unit that people use, without the unit; empty for None."""
    return "" if amount is None else f"{(Decimal(amount) / unit(resource)[0]).normalize():f}"


def _stored(resource: Resource, value: Decimal | None) -> int | None:
    return None if value is None else int(value * unit(resource)[0])
