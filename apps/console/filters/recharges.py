"""Filters of recharges; pages and API share them."""

import django_filters
from django.db.models import Q, QuerySet
from django.utils.translation import gettext_lazy as _

from apps.billing.models import Transfer
from apps.common.forms import search_box
from apps.console.filters.base import BetweenDays, OrganisationFilter, day_filter


class RechargeFilter(BetweenDays):
    q = django_filters.CharFilter(method="search", label=_("Reference, note or who"), widget=search_box())
    organisation = OrganisationFilter()
    since = day_filter("from_day", _("From"))
    until = day_filter("to_day", _("To"))

    class Meta:
        model = Transfer
        fields: tuple[str, ...] = ()

    def search(self, rows: QuerySet[Transfer], name: str, value: str) -> QuerySet[Transfer]:
        return rows.filter(Q(ref__icontains=value) | Q(note__icontains=value) | Q(actor_label__icontains=value))
