"""Lists of the billing pages."""

import django_tables2 as tables
from django.utils.translation import gettext_lazy as _

from apps.billing.models import Hold, TopUpOrder, Transfer
from apps.common.tables import FULL, Table, column


class RechargeTable(Table):
    """Top-ups of one organisation."""

    caption = _("Top-ups")
    at = tables.TemplateColumn(
        "{% load pl %}{% when record.at %}", verbose_name=_("When"), attrs=column("pl-nowrap", fold=_("When"))
    )
    ref = tables.TemplateColumn(
        '<span class="pl-name">{{ record.ref }}</span>'
        '{% if record.note %}<span class="pl-sub">{{ record.note }}</span>{% endif %}',
        verbose_name=_("Reference and note"),
        attrs=column(width=FULL),
    )
    actor_label = tables.Column(verbose_name=_("Entered by"), orderable=False, attrs=column(fold=_("Entered by")))
    into_wallet_fen = tables.TemplateColumn(
        '{% load pl %}<span class="pl-strong">{{ record.into_wallet_fen|amount }}</span>',
        verbose_name=_("Amount ¥"),
        attrs=column(fold=_("Amount ¥"), numeric=True),
    )

    class Meta(Table.Meta):
        model = Transfer
        fields = ()
        sequence = ("at", "ref", "actor_label", "into_wallet_fen")


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


class HoldTable(Table):
    """What is set aside now."""

    caption = _("Set aside now")
    label = tables.Column(verbose_name=_("Run"), orderable=False, attrs=column("pl-name", width=FULL))
    reason = tables.TemplateColumn(
        "{{ record.get_reason_display }}", verbose_name=_("What for"), orderable=False, attrs=column(fold=_("What for"))
    )
    amount_fen = tables.TemplateColumn(
        "{% load pl %}{{ record.amount_fen|amount }}",
        verbose_name=_("Amount ¥"),
        orderable=False,
        attrs=column(fold=_("Amount ¥"), numeric=True),
    )

    class Meta(Table.Meta):
        model = Hold
        fields = ()
        sequence = ("label", "reason", "amount_fen")
        attrs = {"class": "dense"}
