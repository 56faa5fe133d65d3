"""The list of payments by Alipay: its columns and filters; page, export and API share the filters."""

from datetime import date, timedelta
from typing import Any

import django_filters
from django.db.models import Q, QuerySet
from django.urls import reverse
from django.utils.translation import gettext_lazy as _

from apps.billing.bill_choices import BillOutcome
from apps.billing.choices import TopUpStatus
from apps.billing.models import TopUpOrder
from apps.common.cells import Cell
from apps.common.forms import search_box
from apps.common.tables import FULL, Table, column
from apps.console.kit.days import start_of
from apps.console.kit.filters import OrganisationFilter, day_filter

NOT_COMPARED = "none"


class AlipayPaymentTable(Table):
    caption = _("Payments by Alipay")
    export = "alipay_payments"
    created_at = Cell(
        "{% load pl %}{% when record.created_at %}",
        verbose_name=_("When"),
        order_by=("created_at", "pk"),
        attrs=column("pl-nowrap", fold=_("When")),
    )
    organisation = Cell(
        "{{ record.organisation.name }}<span class='pl-sub'>{{ record.user.display_name|default:'—' }}</span>",
        order_by=("organisation__name",),
        verbose_name=_("Organisation"),
        attrs=column(width=FULL),
    )
    out_trade_no = Cell(
        "{% load pl %}<a class='pl-name pl-code' href='{% url \"console:alipay_payment\" record.out_trade_no %}'>"
        "{{ record.out_trade_no }}</a>"
        "{% if record.trade_no %}<span class='pl-sub pl-code'>{{ record.trade_no }}</span>{% endif %}",
        verbose_name=_("Order number"),
        attrs=column(width=FULL),
    )
    status = Cell(template_name="billing/topups/state.html", verbose_name=_("State"), attrs=column(fold=_("State")))
    outcome = Cell(
        template_name="console/cells/payment_outcome.html",
        verbose_name=_("Reconciliation"),
        attrs=column("pl-wide", fold=_("Reconciliation")),
    )
    amount_fen = Cell(
        "{% load pl %}<span class='pl-strong'>{{ record.amount_fen|amount }}</span>",
        verbose_name=_("Amount ¥"),
        attrs=column(fold=_("Amount ¥"), numeric=True),
    )

    class Meta(Table.Meta):
        model = TopUpOrder
        fields: tuple[str, ...] = ()
        sequence = ("out_trade_no", "organisation", "created_at", "status", "outcome", "amount_fen")
        row_attrs = {"data-href": lambda record: reverse("console:alipay_payment", args=[record.out_trade_no])}


class AlipayPaymentFilter(django_filters.FilterSet):
    """`since` and `until`: first and last day on which it was started, both in."""

    q = django_filters.CharFilter(method="search", label=_("Number or who"), widget=search_box())
    organisation = OrganisationFilter()
    status = django_filters.ChoiceFilter(choices=TopUpStatus.choices, label=_("State"), empty_label=_("Any state"))
    outcome = django_filters.ChoiceFilter(
        method="by_outcome",
        choices=[*BillOutcome.choices, (NOT_COMPARED, _("Not compared yet"))],
        label=_("Reconciliation"),
        empty_label=_("Any reconciliation"),
    )
    since = day_filter("from_day", _("From"))
    until = day_filter("to_day", _("To"))

    class Meta:
        model = TopUpOrder
        fields: tuple[str, ...] = ()

    def search(self, rows: QuerySet[TopUpOrder], name: str, value: str) -> QuerySet[TopUpOrder]:
        numbers = Q(out_trade_no__icontains=value) | Q(trade_no__icontains=value)
        return rows.filter(numbers | Q(user__username__icontains=value) | Q(user__name__icontains=value))

    def by_outcome(self, rows: QuerySet[Any], name: str, value: str) -> QuerySet[Any]:
        return rows.filter(outcome__isnull=True) if value == NOT_COMPARED else rows.filter(outcome=value)

    def from_day(self, rows: QuerySet[TopUpOrder], name: str, value: date) -> QuerySet[TopUpOrder]:
        return rows.filter(created_at__gte=start_of(value))

    def to_day(self, rows: QuerySet[TopUpOrder], name: str, value: date) -> QuerySet[TopUpOrder]:
        return rows.filter(created_at__lt=start_of(value + timedelta(days=1)))
