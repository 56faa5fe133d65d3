"""Filters of lists of statements; pages and API share them."""

from typing import Any

import django_filters
from django import forms
from django.db.models import QuerySet
from django.utils.translation import gettext_lazy as _

from apps.billing.models import Statement

_MONTH = forms.DateInput(format="%Y-%m", attrs={"type": "month", "title": _("Month")})


class BillFilter(django_filters.FilterSet):
    """By month (YYYY-MM)."""

    period = django_filters.CharFilter(method="in_month", label=_("Month"), widget=_MONTH)

    class Meta:
        model = Statement
        fields: tuple[str, ...] = ()

    def in_month(self, rows: QuerySet[Statement], name: str, value: Any) -> QuerySet[Statement]:
        return rows.filter(period=str(value)[:7])
