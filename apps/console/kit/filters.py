"""Building blocks for the filters of the console's lists. The URL holds their state; pages and API share them."""

from datetime import date, timedelta
from typing import Any

import django_filters
from django import forms
from django.db.models import QuerySet
from django.utils.translation import gettext_lazy as _

from apps.console.kit.days import start_of
from apps.console.kit.fields import Completing
from apps.console.kit.organisations import find_organisation
from apps.tenants.models import Organisation


def date_box(label: Any) -> forms.DateInput:
    """Date inputs show no placeholder: the title says which end of the span it is."""
    return forms.DateInput(format="%Y-%m-%d", attrs={"type": "date", "title": label})


class OrganisationFilter(django_filters.CharFilter):
    """An organisation by name, short name or id; other text is searched within the names."""

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(label=_("Organisation"), widget=Completing(attrs={"size": 18}), **kwargs)

    def filter(self, qs: QuerySet[Any], value: str) -> QuerySet[Any]:
        if not value:
            return qs
        named = find_organisation(value)
        if named is not None:
            return qs.filter(organisation_id=named.pk)
        alike = Organisation.objects.filter(name__icontains=value).order_by().values("pk")
        return qs.filter(organisation_id__in=alike)


def day_filter(method: str, label: Any) -> django_filters.DateFilter:
    return django_filters.DateFilter(method=method, label=label, widget=date_box(label))


class BetweenDays(django_filters.FilterSet):
    """First and last day, both included, of rows with an `at`. Each set names `since` and `until` in its own order."""

    def from_day(self, rows: QuerySet[Any], name: str, value: date) -> QuerySet[Any]:
        return rows.filter(at__gte=start_of(value))

    def to_day(self, rows: QuerySet[Any], name: str, value: date) -> QuerySet[Any]:
        return rows.filter(at__lt=start_of(value + timedelta(days=1)))
