"""The list of payments by Alipay."""

import django_tables2 as tables
from django.utils.translation import gettext_lazy as _

from apps.billing.models import TopUpOrder
from apps.common.tables import FULL, Table, column


class TopUpTable(Table):
    """Payments by Alipay, paid or not."""

    caption = _("Payments")
    created_at = tables.TemplateColumn(
        "{% load pl %}{% when record.created_at %}", verbose_name=_("When"), attrs=column("pl-nowrap", fold=_("When"))
    )
    out_trade_no = tables.TemplateColumn(
        '<a class="pl-name pl-code" href="{% url "billing:top_up_order" record.out_trade_no %}">'
        "{{ record.out_trade_no }}</a>",
        verbose_name=_("Order number"),
        attrs=column(width=FULL),
    )
    user = tables.TemplateColumn(
        "{{ record.user.display_name|default:'—' }}", verbose_name=_("By"), orderable=False, attrs=column(fold=_("By"))
    )
    status = tables.TemplateColumn(
        template_name="billing/topups/state.html", verbose_name=_("State"), attrs=column(fold=_("State"))
    )
    amount_fen = tables.TemplateColumn(
        '{% load pl %}<span class="pl-strong">{{ record.amount_fen|amount }}</span>',
        verbose_name=_("Amount ¥"),
        attrs=column(fold=_("Amount ¥"), numeric=True),
    )

    class Meta(Table.Meta):
        model = TopUpOrder
        fields = ()
        sequence = ("created_at", "out_trade_no", "user", "status", "amount_fen")
