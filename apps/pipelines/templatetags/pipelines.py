"""Cells of the rows in which steps are typed."""

from typing import Any

from django import template
from django.utils.translation import gettext_lazy as _
from django.utils.translation import pgettext_lazy

from apps.pipelines.rows import PREFIX, StepRow

register = template.Library()
# By column: its label, what stands in the empty cell.
_CELLS = {
    "name": (pgettext_lazy("pipeline", "Step"), "train"),
    "needs": (_("Needs"), "prepare, evaluate: accuracy >= 0.9"),
    "inputs": (_("Reads the output of"), "prepare"),
    "arguments": (_("Arguments"), "--epochs=${epochs} --fast"),
    "environment": (_("Environment variables"), "SEED=${seed}"),
    "retries": (_("Retries"), "0"),
    "pause_s": (_("Pause before each, seconds"), "0"),
}


@register.inclusion_tag("tuning/parts/cell.html")
def step_cell(row: StepRow, column: str, classes: str = "") -> dict[str, Any]:
    """One input of a row, with what is wrong with it."""
    label, hint = _CELLS[column]
    return {
        "name": f"{PREFIX}{column}",
        "value": row.typed[column],
        "label": label,
        "hint": hint,
        "classes": classes,
        "error": row.errors.get(column, ""),
    }
