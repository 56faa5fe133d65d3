"""Filters of workloads; pages and API share them."""

import django_filters
from django.db.models import Q, QuerySet
from django.utils.translation import gettext_lazy as _

from apps.common.forms import search_box
from apps.console.filters.base import OrganisationFilter
from apps.workloads import kinds
from apps.workloads.filters import StatusFilter
from apps.workloads.models import Workload


class WorkloadFilter(django_filters.FilterSet):
    q = django_filters.CharFilter(method="search", label=_("Name or owner"), widget=search_box())
    status = StatusFilter()
    organisation = OrganisationFilter()
    kind = django_filters.ChoiceFilter(choices=kinds.choices(), label=_("Kind"), empty_label=_("Any kind"))

    class Meta:
        model = Workload
        fields: tuple[str, ...] = ()

    def search(self, rows: QuerySet[Workload], name: str, value: str) -> QuerySet[Workload]:
        by_owner = Q(owner__username__icontains=value) | Q(owner__name__icontains=value)
        return rows.filter(Q(name__icontains=value) | by_owner)
