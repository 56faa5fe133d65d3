"""Cells of the rows in which parameters are typed."""

from typing import Any

from django import template
from django.utils.translation import gettext_lazy as _

from apps.automl.rows import PREFIX, ParameterRow
from apps.common.plots import shown

register = template.Library()
# By column: its label, what stands in the empty cell, and the name that errors about it have where that is another one.
_CELLS = {
    "name": (_("Parameter"), "lr", "name"),
    "placed_name": (_("Argument or variable"), "--lr", "placed_name"),
    "low": (_("Smallest"), "1e-5", "low"),
    "high": (_("Largest"), "0.1", "high"),
    "step": (_("Step"), "", "step"),
    "choices": (_("Values, separated by commas"), "adam, sgd", "choices"),
    "when": (_("Only with (another parameter's values)"), "optimizer = sgd", "condition"),
}


@register.inclusion_tag("tuning/parts/cell.html")
def cell(row: ParameterRow, column: str, classes: str = "") -> dict[str, Any]:
    """One input of a row, with what is wrong with it."""
    label, hint, field = _CELLS[column]
    return {
        "name": f"{PREFIX}{column}",
        "value": row.typed[column],
        "label": label,
        "hint": hint,
        "classes": classes,
        "error": row.errors.get(field, ""),
        "list": "known-arguments" if column == "placed_name" else "",
    }


@register.filter
def metric(value: float | None) -> str:
    """Five digits, as the charts write them."""
    return shown(value)


@register.filter
def share(value: float) -> str:
    """Of one, in whole per cent."""
    return f"{100 * value:.0f}%"
