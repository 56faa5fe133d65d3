"""Helpers of forms, such as showing domain errors beside the inputs that they are about."""

from collections.abc import Sequence
from itertools import zip_longest
from typing import Any

from django import forms
from django.http import QueryDict

from apps.common.errors import DomainError


def day_field(label: Any, **options: Any) -> forms.DateField:
    """A day as browsers pick and send it."""
    return forms.DateField(label=label, widget=forms.DateInput(format="%Y-%m-%d", attrs={"type": "date"}), **options)


def search_box(size: int = 24) -> forms.TextInput:
    """A search input of `size` characters."""
    return forms.TextInput(attrs={"type": "search", "size": size})


def show_error(form: forms.Form, error: DomainError) -> None:
    """Put each part of the error beside its field, the rest (with the hint) above the form."""
    placed = False
    for name, text in error.fields.items():
        if name in form.fields:
            form.add_error(name, str(text))
            placed = True
    if not placed:
        form.add_error(None, error.sentences)


def key_value_rows(data: QueryDict, prefix: str) -> tuple[tuple[str, str], ...]:
    """Name and value pairs of a table of inputs `<prefix>_key` and `<prefix>_value`, as typed."""
    names: Sequence[str] = data.getlist(f"{prefix}_key")
    values: Sequence[str] = data.getlist(f"{prefix}_value")
    return tuple(zip_longest(names, values, fillvalue=""))
