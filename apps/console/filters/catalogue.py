"""Filters of packages; pages and API share them."""

import django_filters
from django.db.models import Q, QuerySet
from django.utils.translation import gettext_lazy as _

from apps.billing.models import Package
from apps.common.forms import search_box


class PackageFilter(django_filters.FilterSet):
    q = django_filters.CharFilter(method="search", label=_("Name or GPU model"), widget=search_box())
    active = django_filters.ChoiceFilter(
        choices=[("true", _("On offer")), ("false", _("Withdrawn"))],
        method="by_offer",
        label=_("Offer"),
        empty_label=_("All packages"),
    )

    class Meta:
        model = Package
        fields: tuple[str, ...] = ()

    def search(self, rows: QuerySet[Package], name: str, value: str) -> QuerySet[Package]:
        named = Q(name_en__icontains=value) | Q(name_zh__icontains=value)
        return rows.filter(named | Q(gpu_model__icontains=value))

    def by_offer(self, rows: QuerySet[Package], name: str, value: str) -> QuerySet[Package]:
        return rows.filter(active=value == "true")
