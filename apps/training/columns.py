"""Metrics and parameters as columns of the list of runs, of its file, and of its order. Its address names them."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

import django_tables2 as tables
from django.db.models import QuerySet
from django.http import QueryDict
from django.utils.text import Truncator
from django.utils.translation import gettext as _

from apps.billing.exports.columns import CellFormat, Column
from apps.common.errors import Invalid
from apps.common.formatting import UNKNOWN
from apps.common.spreadsheets import Cell
from apps.common.tables import FULL, HALF, column
from apps.tracking import value_columns
from apps.tracking.value_columns import MOST_COLUMNS, ValueColumn, ValueKind, attribute, columns_of, order_of
from apps.training.models import Run

WORKLOAD = "workload_id"
LONGEST_HEADER, LONGEST_CELL = 24, 40
LONGEST_HALF = 12
"""A longer name and its value do not fit into half of a phone."""
SHOWN_RUNS = 500
"""The newest of those that the list shows: what they have is offered as columns."""


@dataclass(frozen=True, slots=True)
class OfferedColumn:
    key: str
    name: str
    is_metric: bool
    is_chosen: bool


def columns_in(asked: QueryDict) -> list[ValueColumn]:
    """Those that the address names, and the metric by which it orders the rows."""
    chosen = columns_of(asked.getlist("column"))[:MOST_COLUMNS]
    order = order_of(asked.get("sort", ""))
    return chosen if order is None or order.column in chosen else [*chosen, order.column]


def with_columns(rows: QuerySet[Run], asked: QueryDict) -> QuerySet[Run]:
    return value_columns.with_values(rows, columns_in(asked), WORKLOAD)


def offered(rows: QuerySet[Run], asked: QueryDict) -> list[OfferedColumn]:
    """What the shown runs have, and what is chosen already; arguments of their command count as parameters."""
    newest = list(rows.order_by("-created_at").values_list("workload_id", "arguments")[:SHOWN_RUNS])
    known = value_columns.columns_known([workload_id for workload_id, _arguments in newest])
    named = dict.fromkeys(name for _workload, arguments in newest for name, _value in arguments if name)
    known += columns_of(f"{ValueKind.PARAMETER}:{name}" for name in named)
    chosen = columns_of(asked.getlist("column"))
    return [
        OfferedColumn(each.key, each.name, each.kind is ValueKind.METRIC, each in chosen)
        for each in dict.fromkeys([*chosen, *known])
    ]


def checked(texts: Sequence[str]) -> list[str]:
    """As the address has them. Raises `Invalid` for more than fit."""
    found = columns_of(texts)
    if len(found) > MOST_COLUMNS:
        raise Invalid.field("column", _("At most %(most)s columns can be chosen.") % {"most": MOST_COLUMNS})
    return [each.key for each in found]


def value_of(run: Run, chosen: ValueColumn, place: int) -> float | str | None:
    """What was logged; of a parameter that was not, the argument of that name."""
    found: float | str | None = getattr(run, attribute(place))
    if found is None and chosen.kind is ValueKind.PARAMETER:
        return next((value or "✓" for name, value in run.arguments if name == chosen.name), None)
    return found


class ValueCell(tables.Column):
    """The value of a metric or parameter; a metric is sorted by, a parameter, which is a text, is not."""

    def __init__(self, chosen: ValueColumn, place: int) -> None:
        self.chosen, self.place = chosen, place
        is_metric = chosen.kind is ValueKind.METRIC
        header = Truncator(chosen.name).chars(LONGEST_HEADER)
        width = FULL if len(header) > LONGEST_HALF else HALF
        attrs = column("pl-nowrap" if is_metric else "", fold=header, numeric=is_metric, width=width)
        attrs["th"] = {**attrs["th"], "title": chosen.name}
        super().__init__(
            accessor="pk", verbose_name=header, orderable=is_metric, empty_values=(), attrs=attrs, default=UNKNOWN
        )

    def render(self, record: Run) -> str:
        value = value_of(record, self.chosen, self.place)
        if isinstance(value, float):
            return shown(value)
        return UNKNOWN if value is None else Truncator(value).chars(LONGEST_CELL)

    def order(self, queryset: QuerySet[Run], is_descending: bool) -> tuple[QuerySet[Run], bool]:
        order = value_columns.MetricOrder(self.chosen.name, is_descending)
        return value_columns.in_order(queryset, order, WORKLOAD), True


def shown(value: float) -> str:
    """Five digits: enough to tell two runs apart."""
    if math.isinf(value):
        return "∞" if value > 0 else "-∞"
    return "NaN" if math.isnan(value) else f"{value:.5g}"


def table_columns(chosen: Sequence[ValueColumn]) -> list[tuple[str, tables.Column]]:
    return [(each.key, ValueCell(each, place)) for place, each in enumerate(chosen)]


def file_columns(asked: QueryDict) -> list[Column]:
    return [
        Column(each.name, CellFormat.EXACT if each.kind is ValueKind.METRIC else CellFormat.TEXT, 16)
        for each in columns_in(asked)
    ]


def file_cells(row: Any, asked: QueryDict) -> list[Cell]:
    return [_cell(value_of(row, each, place)) for place, each in enumerate(columns_in(asked))]


def _cell(value: float | str | None) -> Cell:
    if not isinstance(value, float):
        return value
    return Decimal(repr(value)) if math.isfinite(value) else shown(value)


def file_order(rows: QuerySet[Run], asked: QueryDict) -> QuerySet[Run] | None:
    order = order_of(asked.get("sort", ""))
    return None if order is None else value_columns.in_order(rows, order, WORKLOAD)
