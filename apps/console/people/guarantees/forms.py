"""An organisation's guarantees: a number of cards for any model and for each."""

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from django import forms
from django.utils.functional import Promise as Words
from django.utils.text import format_lazy
from django.utils.translation import gettext_lazy as _

from apps.console.people.guarantees.selectors import WHOLE_MILLI, GuaranteeLine
from apps.tenants.services.guarantees import Promise


@dataclass(frozen=True, slots=True)
class GuaranteeField:
    """One line of the form as the page shows it. In cards."""

    line: GuaranteeLine
    field: forms.BoundField
    existing: str
    everybody: str

    @property
    def zones(self) -> list[tuple[str, str, str]]:
        """Of zones that are short: name, cards there, cards missing."""
        return [(zone.name, shown_cards(zone.existing), shown_cards(zone.missing)) for zone in self.line.short_zones]


class GuaranteesForm(forms.Form):
    """Empty means nothing is guaranteed."""

    def __init__(self, data: Any = None, *, lines: Sequence[GuaranteeLine]) -> None:
        self.lines = list(lines)
        initial = {field_name(line.promise): shown_cards(line.milli) for line in lines if line.milli}
        super().__init__(data, initial=initial)
        for line in lines:
            self.fields[field_name(line.promise)] = forms.DecimalField(
                label=str(words_of(line.promise)),
                required=False,
                min_value=0,
                max_digits=9,
                decimal_places=3,
                widget=forms.TextInput(attrs={"inputmode": "decimal", "autocomplete": "off", "placeholder": "0"}),
            )

    def rows(self) -> list[GuaranteeField]:
        return [
            GuaranteeField(
                line, self[field_name(line.promise)], shown_cards(line.existing), shown_cards(line.everybody)
            )
            for line in self.lines
        ]

    def milli(self) -> dict[Promise, int]:
        """In thousandths of a card."""
        return {
            line.promise: int((self.cleaned_data[field_name(line.promise)] or Decimal()) * WHOLE_MILLI)
            for line in self.lines
        }


def words_of(promise: Promise) -> str | Words:
    model: str | Words = promise.gpu_model or _("Cards of any model")
    return format_lazy(_("{model}, simulated"), model=model) if promise.simulated else model


def field_name(promise: Promise) -> str:
    """A name that HTML can hold, whatever a model is called."""
    world = "simulated" if promise.simulated else "real"
    return f"{world}-{hashlib.sha256(promise.gpu_model.encode()).hexdigest()[:10]}" if promise.gpu_model else world


def shown_cards(milli: int) -> str:
    """`4`, `2.5`: cards without a unit."""
    return f"{(Decimal(milli) / WHOLE_MILLI).normalize():f}"
