"""What the columns of a table hold, told from the rows that are read."""

import re
from collections.abc import Iterable
from datetime import date, datetime
from enum import Enum
from typing import Any

from django.utils.functional import Promise
from django.utils.translation import pgettext_lazy

_INTEGER = re.compile(r"[+-]?\d+", re.ASCII)
_NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?|[+-]?inf|nan", re.ASCII | re.IGNORECASE)
_TRUTHS = frozenset({"true", "false"})


class ColumnType(Enum):
    """The value is what the page says."""

    EMPTY = pgettext_lazy("type of a column", "Empty")
    INTEGER = pgettext_lazy("type of a column", "Whole number")
    NUMBER = pgettext_lazy("type of a column", "Number")
    TRUTH = pgettext_lazy("type of a column", "True or false")
    DATE = pgettext_lazy("type of a column", "Date")
    MOMENT = pgettext_lazy("type of a column", "Date and time")
    TEXT = pgettext_lazy("type of a column", "Text")
    LIST = pgettext_lazy("type of a column", "List")
    OBJECT = pgettext_lazy("type of a column", "Object")
    MIXED = pgettext_lazy("type of a column", "Mixed")

    @property
    def words(self) -> str | Promise:
        return self.value


_NUMBERS = frozenset({ColumnType.INTEGER, ColumnType.NUMBER})
_TEXTS = frozenset({ColumnType.TEXT, ColumnType.DATE, ColumnType.MOMENT})


def of_cells(cells: Iterable[str]) -> ColumnType:
    """Of a column of CSV, in which everything is text: what all of its cells can be read as."""
    found = {_of_cell(cell.strip()) for cell in cells} - {ColumnType.EMPTY}
    return ColumnType.TEXT if len(found) > 1 and not found <= _NUMBERS else _together(found)


def of_values(values: Iterable[Any]) -> ColumnType:
    """Of a field of JSON objects; None is nothing."""
    return _together({_of_value(value) for value in values} - {ColumnType.EMPTY})


def _together(found: set[ColumnType]) -> ColumnType:
    if len(found) <= 1:
        return next(iter(found), ColumnType.EMPTY)
    if found <= _NUMBERS:
        return ColumnType.NUMBER
    return ColumnType.TEXT if found <= _TEXTS else ColumnType.MIXED


def _of_value(value: Any) -> ColumnType:
    if isinstance(value, str):
        return _of_text(value) if value else ColumnType.EMPTY
    if isinstance(value, bool):
        return ColumnType.TRUTH
    kinds = {int: ColumnType.INTEGER, float: ColumnType.NUMBER, list: ColumnType.LIST, dict: ColumnType.OBJECT}
    return kinds.get(type(value), ColumnType.EMPTY)


def _of_cell(cell: str) -> ColumnType:
    if not cell:
        return ColumnType.EMPTY
    if _INTEGER.fullmatch(cell):
        return ColumnType.INTEGER
    if _NUMBER.fullmatch(cell):
        return ColumnType.NUMBER
    return ColumnType.TRUTH if cell.lower() in _TRUTHS else _of_text(cell)


def _of_text(text: str) -> ColumnType:
    if len(text) > 40 or not text[:1].isdigit():
        return ColumnType.TEXT
    for read, kind in ((date.fromisoformat, ColumnType.DATE), (datetime.fromisoformat, ColumnType.MOMENT)):
        try:
            read(text)
        except ValueError:
            continue
        return kind
    return ColumnType.TEXT
