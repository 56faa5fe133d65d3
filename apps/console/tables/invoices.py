"""The staff's list of invoices."""

import django_tables2 as tables
from django.urls import reverse
from django.utils.translation import gettext_lazy as _

from apps.common.cells import Cell
from apps.common.tables import FULL, Table, column


class InvoiceTable(Table):
    caption = _("Invoices")
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
        verbose_name=_("Asked for"),
        attrs=column(fold=_("Asked for"), numeric=True),
    )
    amount_fen = Cell(
        "{% load pl %}<span class='pl-strong'>{{ record.amount_fen|amount }}</span>",
        verbose_name=_("Amount ¥"),
        attrs=column(fold="¥", numeric=True),
    )

    class Meta(Table.Meta):
        row_attrs = {"data-href": lambda record: reverse("console:invoice", args=[record.pk])}
