"""Paging of the runs in the API: the newest first, or by a metric."""

from typing import Any

from django.db.models import QuerySet
from django.utils.translation import gettext as _
from rest_framework.request import Request

from apps.common.errors import Invalid
from apps.common.pagination import CreatedCursor
from apps.tracking.value_columns import MetricOrder, in_order, order_of
from apps.training.columns import WORKLOAD
from apps.training.models import Run


def asked_order(request: Request) -> MetricOrder | None:
    """Raises `Invalid` for what is no order."""
    text = request.query_params.get("sort", "")
    order = order_of(text)
    if text and order is None:
        raise Invalid.field("sort", _("Write metric: and its name, such as -metric:loss for the greatest first."))
    return order


def in_asked_order(request: Request, rows: QuerySet[Run]) -> QuerySet[Run]:
    order = asked_order(request)
    return rows if order is None else in_order(rows, order, WORKLOAD)


class RunCursor(CreatedCursor):
    """A cursor is good for the order in which it was given: all metrics are sorted by a column of one name."""

    def get_ordering(self, request: Any, queryset: Any, view: Any) -> tuple[str, ...]:
        order = asked_order(request)
        if order is None:
            return super().get_ordering(request, queryset, view)
        self.ordering = order.terms  # type: ignore[assignment]  # a tuple is as good for the library
        found = super().get_ordering(request, queryset, view)
        self.salt = f"{self.salt}:{order.column.key}"
        return found
