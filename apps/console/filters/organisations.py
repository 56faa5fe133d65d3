"""Filters of organisations; pages and API share them."""

import django_filters
from django.db.models import Q, QuerySet
from django.utils.translation import gettext_lazy as _

from apps.common.forms import search_box
from apps.tenants.choices import OrganisationStatus
from apps.tenants.models import Organisation


class OrganisationListFilter(django_filters.FilterSet):
    q = django_filters.CharFilter(method="search", label=_("Name or short name"), widget=search_box())
    status = django_filters.ChoiceFilter(
        choices=OrganisationStatus.choices, label=_("Status"), empty_label=_("Any status")
    )

    class Meta:
        model = Organisation
        fields: tuple[str, ...] = ()

    def search(self, rows: QuerySet[Organisation], name: str, value: str) -> QuerySet[Organisation]:
        return rows.filter(Q(name__icontains=value) | Q(slug__icontains=value))
