"""Zones to choose from."""

from django.db.models import QuerySet
from django.http import HttpRequest

from apps.clusters.models import Zone


def zones_by_name(request: HttpRequest | None) -> QuerySet[Zone]:
    rows: QuerySet[Zone] = Zone.objects.order_by("name")
    return rows
