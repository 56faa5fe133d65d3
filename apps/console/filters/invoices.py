"""Filters of the staff's list of invoices."""

import django_filters
from django.db.models import Q, QuerySet
from django.utils.translation import gettext_lazy as _

from apps.billing.invoice_choices import InvoiceState
from apps.billing.models import Invoice
from apps.common.forms import search_box
from apps.console.filters.base import OrganisationFilter


class InvoiceFilter(django_filters.FilterSet):
    q = django_filters.CharFilter(method="search", label=_("Title or number"), widget=search_box())
    organisation = OrganisationFilter()
    state = django_filters.ChoiceFilter(choices=InvoiceState.choices, label=_("State"), empty_label=_("Any state"))

    class Meta:
        model = Invoice
        fields: tuple[str, ...] = ()

    def search(self, rows: QuerySet[Invoice], name: str, value: str) -> QuerySet[Invoice]:
        return rows.filter(Q(title__icontains=value) | Q(tax_number__icontains=value) | Q(number__contains=value))
