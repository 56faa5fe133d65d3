"""Lists of days and of payments to reconcile with Alipay: columns and filters; page and API share the filters."""

import django_filters
import django_tables2 as tables
from django import forms
from django.db.models import Q, QuerySet
from django.urls import reverse
from django.utils.translation import gettext_lazy as _

from apps.billing.bill_choices import BillItemKind, BillOutcome, BillState
from apps.billing.models import BillDay, BillItem
from apps.billing.payments.reconciliation.selectors import OPEN
from apps.common.cells import Cell
from apps.common.forms import search_box
from apps.common.tables import FULL, Table, column
from apps.console.kit.filters import OrganisationFilter, date_box

AMOUNT = "{% load pl %}{% if value is None %}—{% else %}{{ value|amount }}{% endif %}"
NEEDED = "open"


class BillDayTable(Table):
    caption = _("Days of Alipay's account")
    day = Cell(
        template_name="console/cells/bill_day.html", verbose_name=_("Day"), order_by=("day",), attrs=column(width=FULL)
    )
    payments = tables.Column(
        verbose_name=_("Payments and refunds"), orderable=False, attrs=column(fold=_("Payments"), numeric=True)
    )
    theirs_fen = Cell(
        AMOUNT, verbose_name=_("Alipay ¥"), orderable=False, attrs=column(fold=_("Alipay ¥"), numeric=True)
    )
    ours_fen = Cell(AMOUNT, verbose_name=_("Ours ¥"), orderable=False, attrs=column(fold=_("Ours ¥"), numeric=True))
    difference_fen = Cell(
        "{% load pl %}<span{% if value %} class='pl-strong'{% endif %}>{{ value|amount }}</span>",
        verbose_name=_("Difference ¥"),
        orderable=False,
        attrs=column(fold=_("Difference ¥"), numeric=True),
    )
    fees_fen = Cell(
        AMOUNT, verbose_name=_("Fees ¥"), orderable=False, attrs=column("pl-wide", fold=_("Fees ¥"), numeric=True)
    )

    class Meta(Table.Meta):
        model = BillDay
        fields: tuple[str, ...] = ()
        sequence = ("day", "payments", "theirs_fen", "ours_fen", "difference_fen", "fees_fen")
        row_attrs = {"data-href": lambda record: reverse("console:reconciliation_day", args=[record.day.isoformat()])}


class BillItemTable(Table):
    caption = _("Payments and refunds")
    number = Cell(
        template_name="console/cells/bill_item.html",
        verbose_name=_("Number"),
        order_by=("out_trade_no",),
        accessor="out_trade_no",
        attrs=column(width=FULL),
    )
    organisation = Cell(
        "{{ record.organisation.name|default:'—' }}",
        order_by=("organisation__name",),
        verbose_name=_("Organisation"),
        attrs=column(width=FULL),
    )
    paid_at = Cell(
        "{% load pl %}{% when record.paid_at seconds=True %}",
        verbose_name=_("When"),
        attrs=column("pl-wide", fold=_("When"), numeric=True),
    )
    theirs_fen = Cell(AMOUNT, verbose_name=_("Alipay ¥"), attrs=column(fold=_("Alipay ¥"), numeric=True))
    ours_fen = Cell(AMOUNT, verbose_name=_("Ours ¥"), attrs=column(fold=_("Ours ¥"), numeric=True))

    class Meta(Table.Meta):
        model = BillItem
        fields: tuple[str, ...] = ()
        sequence = ("number", "organisation", "paid_at", "theirs_fen", "ours_fen")
        row_attrs = {"data-href": lambda record: reverse("console:reconciliation_item", args=[record.pk])}


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
