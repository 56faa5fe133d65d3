"""The list of an organisation's adjustments."""

import django_tables2 as tables
from django.utils.translation import gettext_lazy as _

from apps.billing.models import Transfer
from apps.common.tables import FULL, Table, column


class AdjustmentTable(Table):
    """Credit and debit notes of one organisation."""

    caption = _("Adjustments")
    at = tables.TemplateColumn(
        "{% load pl %}{% when record.at %}", verbose_name=_("When"), attrs=column("pl-nowrap", fold=_("When"))
    )
    ref = tables.TemplateColumn(
        '<span class="pl-name">{{ record.ref }}</span><span class="pl-sub">{{ record.note }}</span>',
        verbose_name=_("Number and reason"),
        attrs=column(width=FULL),
    )
    into_wallet_fen = tables.TemplateColumn(
        '{% load pl %}<span class="pl-strong">{{ record.into_wallet_fen|amount }}</span>',
        verbose_name=_("Into the wallet ¥"),
        attrs=column(fold=_("Into the wallet ¥"), numeric=True),
    )

    class Meta(Table.Meta):
        model = Transfer
        fields = ()
        sequence = ("at", "ref", "into_wallet_fen")
