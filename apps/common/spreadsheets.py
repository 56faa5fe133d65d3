"""Cells of spreadsheets: text that people typed never runs as a formula, numbers stay numbers."""

import csv
import io
from collections.abc import Iterable
from datetime import date, datetime
from decimal import Decimal

from django.utils import timezone

BOM = "\ufeff"  # without it, spreadsheets read UTF-8 as the machine's own code page
# Spreadsheets run cells that begin with these as formulas, whoever wrote them.
FORMULA_STARTS = ("=", "+", "-", "@", "\t", "\r", "\n")

Cell = str | int | Decimal | date | datetime | None


def safe_text(text: str) -> str:
    """Text with a quote before what could begin a formula."""
    return f"'{text}" if text.startswith(FORMULA_STARTS) else text


def safe_cell(value: object) -> str:
    """A value as a CSV cell: numbers unchanged, times in the site's zone, everything else as safe text."""
    if value is None:
        return ""
    if isinstance(value, Decimal):
        return f"{value:f}"
    if isinstance(value, int | float):
        return str(value)
    if isinstance(value, datetime):
        return f"{timezone.localtime(value):%Y-%m-%d %H:%M:%S}"
    return safe_text(str(value))


def csv_line(values: Iterable[object]) -> str:
    buffer = io.StringIO()
    csv.writer(buffer, lineterminator="\r\n").writerow([safe_cell(value) for value in values])
    return buffer.getvalue()
