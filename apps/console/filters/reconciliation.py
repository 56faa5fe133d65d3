"""Filters of the reconciliation with Alipay; pages and API share them."""

import django_filters
from django import forms
from django.db.models import Q, QuerySet
from django.utils.translation import gettext_lazy as _

from apps.billing.bill_choices import BillItemKind, BillOutcome, BillState
from apps.billing.models import BillDay, BillItem
from apps.billing.payments.reconciliation.selectors import OPEN
from apps.common.forms import search_box
from apps.console.filters.base import OrganisationFilter, date_box


class BillDayFilter(django_filters.FilterSet):
    state = django_filters.ChoiceFilter(choices=BillState.choices, label=_("State"), empty_label=_("Any state"))
    since = django_filters.DateFilter(field_name="day", lookup_expr="gte", label=_("From"), widget=date_box(_("From")))
    until = django_filters.DateFilter(field_name="day", lookup_expr="lte", label=_("To"), widget=date_box(_("To")))

    class Meta:
        model = BillDay
        fields: tuple[str, ...] = ()


class BillItemFilter(django_filters.FilterSet):
    q = django_filters.CharFilter(method="search", label=_("Number"), widget=search_box())
    organisation = OrganisationFilter()
    kind = django_filters.ChoiceFilter(choices=BillItemKind.choices, label=_("Kind"), empty_label=_("Any kind"))

    class Meta:
        model = BillItem
        fields: tuple[str, ...] = ()

    def search(self, rows: QuerySet[BillItem], name: str, value: str) -> QuerySet[BillItem]:
        numbers = Q(out_trade_no__icontains=value) | Q(out_request_no__icontains=value)
        return rows.filter(numbers | Q(trade_no__icontains=value))


NEEDED = "open"


class BillTabFilter(BillItemFilter):
    """For the page of a day: `tab` is an outcome, or `open` for what needs somebody."""

    tab = django_filters.ChoiceFilter(
        method="by_tab", choices=[(NEEDED, NEEDED), *BillOutcome.choices], widget=forms.HiddenInput
    )

    def by_tab(self, rows: QuerySet[BillItem], name: str, value: str) -> QuerySet[BillItem]:
        return rows.filter(OPEN) if value == NEEDED else rows.filter(outcome=value)

    @property
    def narrows(self) -> bool:
        """Whether more than the tab was chosen."""
        return any(self.data.get(name) for name in ("q", "organisation", "kind"))


class BillItemListFilter(BillItemFilter):
    """For the API, which has no tabs."""

    day = django_filters.DateFilter()
    outcome = django_filters.ChoiceFilter(choices=BillOutcome.choices)
    open = django_filters.BooleanFilter(method="by_open", label="Only those that need somebody, or only the others.")

    def by_open(self, rows: QuerySet[BillItem], name: str, value: bool) -> QuerySet[BillItem]:
        return rows.filter(OPEN) if value else rows.exclude(OPEN)
