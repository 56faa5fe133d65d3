"""Metrics and parameters as columns of a list, as its address names them: `metric:loss`, `param:lr`.

The values come with the list's own statement, and stand in its rows: what is kept of a row (`apps.common.kept`) is
found by them.
"""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, TypeVar
from uuid import UUID

from django.db.models import Count, Model, OuterRef, QuerySet, Subquery, Value
from django.db.models.functions import Coalesce, Left, NullIf

from apps.tracking.models import Parameter, Series
from apps.tracking.points import LONGEST_NAME

MOST_COLUMNS = 6
MOST_OFFERED = 300
LONGEST_VALUE = 200
SORTED = "sorted_value"

Row = TypeVar("Row", bound=Model)


class ValueKind(StrEnum):
    METRIC = "metric"
    PARAMETER = "param"


@dataclass(frozen=True, slots=True)
class ValueColumn:
    """A metric shows its last value, a parameter its text."""

    kind: ValueKind
    name: str

    @property
    def key(self) -> str:
        return f"{self.kind}:{self.name}"


@dataclass(frozen=True, slots=True)
class MetricOrder:
    """Rows by the last value of a metric; those without a number come last, either way."""

    name: str
    descending: bool

    @property
    def column(self) -> ValueColumn:
        return ValueColumn(ValueKind.METRIC, self.name)

    @property
    def terms(self) -> tuple[str, ...]:
        """Of the same value, the newest first."""
        return f"-{SORTED}" if self.descending else SORTED, "-created_at", "-pk"


def column_of(text: str) -> ValueColumn | None:
    """None for what names no column."""
    kind, _colon, name = text.partition(":")
    if kind not in list(ValueKind) or not 0 < len(name) <= LONGEST_NAME or "\0" in name:
        return None
    return ValueColumn(ValueKind(kind), name)


def columns_of(texts: Iterable[str]) -> list[ValueColumn]:
    """Each once, without those that are none: addresses outlive what they name."""
    return list(dict.fromkeys(column for text in texts if (column := column_of(text)) is not None))


def order_of(text: str) -> MetricOrder | None:
    """`-metric:loss`: the greatest first. None for any other order."""
    column = column_of(text.removeprefix("-"))
    if column is None or column.kind is not ValueKind.METRIC:
        return None
    return MetricOrder(column.name, text.startswith("-"))


def attribute(place: int) -> str:
    """Where `with_values` puts the value of the column at this place."""
    return f"value_{place}"


def with_values(rows: QuerySet[Row], columns: Sequence[ValueColumn], workload: str) -> QuerySet[Row]:
    """`workload`: the column with the workload's id."""
    values = {attribute(place): _value(each, workload) for place, each in enumerate(columns)}
    found: QuerySet[Row] = rows.annotate(**values)
    return found


def in_order(rows: QuerySet[Row], order: MetricOrder, workload: str) -> QuerySet[Row]:
    """Annotated and ordered. What is no number is as good as missing: the database would have NaN as the greatest."""
    missing = Value(-math.inf if order.descending else math.inf)
    finite = Series.objects.annotate(number=NullIf("last_value", Value(math.nan)))
    last = finite.filter(run_id=OuterRef(workload), name=order.name).values("number")[:1]
    found: QuerySet[Row] = rows.annotate(**{SORTED: Coalesce(Subquery(last), missing)}).order_by(*order.terms)
    return found


def columns_known(run_ids: Sequence[UUID]) -> list[ValueColumn]:
    """What these runs have, that of most of them first; metrics before parameters."""
    return [*_known(Series, ValueKind.METRIC, run_ids), *_known(Parameter, ValueKind.PARAMETER, run_ids)]


def _known(model: type[Series] | type[Parameter], kind: ValueKind, run_ids: Sequence[UUID]) -> list[ValueColumn]:
    rows: Any = model.objects.filter(run_id__in=run_ids).order_by().values_list("name").annotate(runs=Count("pk"))
    return [ValueColumn(kind, name) for name, _runs in rows.order_by("-runs", "name")[:MOST_OFFERED]]


def _value(column: ValueColumn, workload: str) -> Subquery:
    if column.kind is ValueKind.METRIC:
        return Subquery(Series.objects.filter(run_id=OuterRef(workload), name=column.name).values("last_value")[:1])
    rows = Parameter.objects.filter(run_id=OuterRef(workload), name=column.name)
    return Subquery(rows.values(text=Left("value", LONGEST_VALUE))[:1])
