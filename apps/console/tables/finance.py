"""The list of recharges."""

import django_tables2 as tables
from django.urls import reverse
from django.utils.translation import gettext_lazy as _

from apps.common.tables import FULL, Table, column
from apps.console.tables.cells import Cell


class RechargeTable(Table):
    caption = _("Recharges")
    reference = Cell(
        template_name="console/cells/recharge_reference.html",
        verbose_name=_("Reference and note"),
        order_by=("ref",),
        attrs=column(width=FULL),
    )
    organisation = tables.Column(
        order_by=("organisation__name",), verbose_name=_("Organisation"), attrs=column(width=FULL)
    )
    actor_label = tables.Column(verbose_name=_("By"), attrs=column(fold=_("By")))
    at = Cell(
        "{% load pl %}{% when record.at seconds=True %}",
        verbose_name=_("When"),
        order_by=("at", "pk"),
        attrs=column(fold=_("When"), numeric=True),
    )
    amount_fen = Cell(
        "{% load pl %}<span class='pl-strong'>{{ record.amount_fen|amount }}</span>",
        verbose_name=_("Amount ¥"),
        attrs=column(fold="¥", numeric=True),
    )

    class Meta(Table.Meta):
        row_attrs = {"data-href": lambda record: reverse("console:recharge", args=[record.pk])}
