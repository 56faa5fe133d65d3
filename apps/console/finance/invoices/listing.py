"""The list of invoices: its columns and filters; page and API share the filters."""

import django_filters
import django_tables2 as tables
from django.db.models import Q, QuerySet
from django.urls import reverse
from django.utils.translation import gettext_lazy as _

from apps.billing.invoice_choices import InvoiceState
from apps.billing.models import Invoice
from apps.common.cells import Cell
from apps.common.forms import search_box
from apps.common.tables import FULL, Table, column
from apps.console.kit.filters import OrganisationFilter


class InvoiceTable(Table):
    caption = _("Invoices")
    export = "invoices"
    title = Cell(
        "<a class='pl-name' href='{% url \"console:invoice\" record.pk %}'>{{ record.title }}</a>"
        "<span class='pl-sub'>{{ record.get_kind_display }}"
        "{% if record.number %} · {{ record.number }}{% endif %}</span>",
        verbose_name=_("Made out to"),
        attrs=column(width=FULL),
    )
    organisation = tables.Column(
        order_by=("organisation__name",), verbose_name=_("Organisation"), attrs=column(width=FULL)
    )
    state = Cell(
        template_name="billing/invoices/state.html", verbose_name=_("State"), attrs=column(fold=_("State"), width=FULL)
    )
    created_at = Cell(
        "{% load pl %}{% when record.created_at %}",
        verbose_name=_("Requested at"),
        attrs=column(fold=_("Requested at"), numeric=True),
    )
    amount_fen = Cell(
        "{% load pl %}<span class='pl-strong'>{{ record.amount_fen|amount }}</span>",
        verbose_name=_("Amount ¥"),
        attrs=column(fold="¥", numeric=True),
    )

    class Meta(Table.Meta):
        row_attrs = {"data-href": lambda record: reverse("console:invoice", args=[record.pk])}


class InvoiceFilter(django_filters.FilterSet):
    q = django_filters.CharFilter(method="search", label=_("Title or number"), widget=search_box())
    organisation = OrganisationFilter()
    state = django_filters.ChoiceFilter(choices=InvoiceState.choices, label=_("State"), empty_label=_("Any state"))

    class Meta:
        model = Invoice
        fields: tuple[str, ...] = ()

    def search(self, rows: QuerySet[Invoice], name: str, value: str) -> QuerySet[Invoice]:
        return rows.filter(Q(title__icontains=value) | Q(tax_number__icontains=value) | Q(number__contains=value))
