"""The list of an organisation's top-ups."""

import django_tables2 as tables
from django.utils.translation import gettext_lazy as _

from apps.billing.models import Transfer
from apps.common.tables import FULL, Table, column


class RechargeTable(Table):
    """Top-ups of one organisation."""

    caption = _("Top-ups")
    at = tables.TemplateColumn(
        "{% load pl %}{% when record.at %}", verbose_name=_("When"), attrs=column("pl-nowrap", fold=_("When"))
    )
    ref = tables.TemplateColumn(
        '<span class="pl-name">{{ record.ref }}</span>'
        '{% if record.note %}<span class="pl-sub">{{ record.note }}</span>{% endif %}'
        '{% if record.payer %}<span class="pl-sub">{{ record.payer }} · {{ record.paid_on|date:"Y-m-d" }}</span>'
        "{% endif %}",
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
