"""What export files consist of: columns, and one source for each kind of rows."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import timedelta
from enum import StrEnum
from typing import Any

from django.db.models import QuerySet
from django.utils.functional import Promise

from apps.billing.days import midnight
from apps.billing.exports.wanted import ExportSpec
from apps.common.actor import Actor
from apps.common.permissions import Permission
from apps.common.spreadsheets import Cell


class CellFormat(StrEnum):
    """How a spreadsheet shows a column."""

    TEXT = "text"
    WHOLE = "whole"
    YUAN = "yuan"
    EXACT = "exact"
    DAY = "day"
    MOMENT = "moment"


@dataclass(frozen=True, slots=True)
class Column:
    """`width` in characters; `adds`: the last row states its sum."""

    label: str | Promise
    look: CellFormat = CellFormat.TEXT
    width: int = 14
    adds: bool = False


@dataclass(frozen=True, slots=True)
class Source:
    """`permission` is what one needs inside an organisation; the platform's staff need PLATFORM_FINANCE_VIEW."""

    permission: Permission
    columns: Sequence[Column]
    rows: Callable[[Actor, ExportSpec], QuerySet[Any]]
    cells: Callable[[Any], list[Cell]]
    order: tuple[str, ...] = ("pk",)


def within_days(rows: QuerySet[Any], wanted: ExportSpec, column: str) -> QuerySet[Any]:
    """Rows of the days wanted, by the instant in `column`."""
    if wanted.since:
        rows = rows.filter(**{f"{column}__gte": midnight(wanted.since)})
    if wanted.until:
        end = midnight(wanted.until + timedelta(days=1))
        rows = rows.filter(**{f"{column}__lt": end})
    if wanted.organisation_id:
        rows = rows.filter(organisation_id=wanted.organisation_id)
    return rows
