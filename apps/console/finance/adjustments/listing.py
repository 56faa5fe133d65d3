"""The list of credit and debit notes: columns and filters; page and API share the filters."""

import django_filters
import django_tables2 as tables
from django.db.models import Q, QuerySet
from django.utils.translation import gettext_lazy as _

from apps.billing.models import Transfer
from apps.common.cells import Cell
from apps.common.forms import search_box
from apps.common.tables import FULL, Table, column
from apps.console.kit.filters import BetweenDays, OrganisationFilter, day_filter


class AdjustmentTable(Table):
    caption = _("Adjustments")
    ref = Cell(
        "<span class='pl-name'>{{ record.ref }}</span><span class='pl-sub'>{{ record.note }}</span>",
        verbose_name=_("Number and reason"),
        attrs=column(width=FULL),
    )
    organisation = tables.Column(
        order_by=("organisation__name",), verbose_name=_("Organisation"), attrs=column(width=FULL)
    )
    actor_label = Cell(template_name="console/cells/recharge_by.html", verbose_name=_("By"), attrs=column(fold=_("By")))
    at = Cell(
        "{% load pl %}{% when record.at seconds=True %}",
        verbose_name=_("When"),
        order_by=("at", "pk"),
        attrs=column(fold=_("When"), numeric=True),
    )
    into_wallet_fen = Cell(
        "{% load pl %}<span class='pl-strong'>{{ record.into_wallet_fen|amount }}</span>",
        verbose_name=_("Into the wallet ¥"),
        attrs=column(fold="¥", numeric=True),
    )


class AdjustmentFilter(BetweenDays):
    text = django_filters.CharFilter(method="search", label=_("Number, reason or person"), widget=search_box())
    organisation = OrganisationFilter()
    since = day_filter("from_day", _("From"))
    until = day_filter("to_day", _("To"))

    class Meta:
        model = Transfer
        fields: tuple[str, ...] = ()

    def search(self, rows: QuerySet[Transfer], name: str, value: str) -> QuerySet[Transfer]:
        return rows.filter(Q(ref__icontains=value) | Q(note__icontains=value) | Q(actor_label__icontains=value))
