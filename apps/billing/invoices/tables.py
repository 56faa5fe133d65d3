"""Lists of invoices and of titles in the portal."""

import django_tables2 as tables
from django.urls import reverse
from django.utils.translation import gettext_lazy as _

from apps.billing.models import Invoice, InvoiceTitle
from apps.common.tables import FULL, Table, column


class InvoiceTable(Table):
    caption = _("Invoices")
    title = tables.TemplateColumn(
        '{% load pl %}<a class="pl-name" href="{% url "billing:invoice" record.pk %}">{{ record.title }}</a>'
        '<span class="pl-sub">{{ record.get_kind_display }}'
        "{% if record.number %} · {{ record.number }}{% endif %}</span>",
        verbose_name=_("Made out to"),
        attrs=column(width=FULL),
    )
    state = tables.TemplateColumn(
        template_name="billing/invoices/state.html", verbose_name=_("State"), attrs=column(fold=_("State"), width=FULL)
    )
    created_at = tables.TemplateColumn(
        "{% load pl %}{% when record.created_at %}",
        verbose_name=_("Requested at"),
        attrs=column("pl-nowrap", fold=_("Requested at"), numeric=True),
    )
    amount_fen = tables.TemplateColumn(
        '{% load pl %}<span class="pl-strong">{{ record.amount_fen|amount }}</span>',
        verbose_name=_("Amount ¥"),
        attrs=column(fold=_("Amount ¥"), numeric=True),
    )

    class Meta(Table.Meta):
        model = Invoice
        fields = ()
        sequence = ("title", "state", "created_at", "amount_fen")
        row_attrs = {"data-href": lambda record: reverse("billing:invoice", args=[record.pk])}


class TitleTable(Table):
    caption = _("Titles")
    title = tables.TemplateColumn(
        '<span class="pl-name">{{ record.title }}</span><span class="pl-sub">{{ record.get_title_kind_display }}'
        "{% if record.tax_number %} · {{ record.tax_number }}{% endif %}</span>",
        verbose_name=_("Title"),
        orderable=False,
        attrs=column(width=FULL),
    )
    acts = tables.TemplateColumn(
        template_name="billing/invoices/title_acts.html", verbose_name="", orderable=False, attrs=column("pl-acts")
    )

    class Meta(Table.Meta):
        model = InvoiceTitle
        fields = ()
        sequence = ("title", "acts")
        attrs = {"class": "dense"}
