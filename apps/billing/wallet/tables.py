"""The list of what is set aside."""

import django_tables2 as tables
from django.utils.translation import gettext_lazy as _

from apps.billing.models import Hold
from apps.common.tables import FULL, Table, column


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
