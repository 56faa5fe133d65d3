"""Lists of recharges and of what waits for a second person: columns and filters; page and API share the filters."""

import django_filters
import django_tables2 as tables
from django.db.models import Q, QuerySet
from django.urls import reverse
from django.utils.translation import gettext_lazy as _

from apps.billing.models import Transfer
from apps.common.cells import Cell
from apps.common.forms import search_box
from apps.common.tables import FULL, Table, column
from apps.console.kit.filters import BetweenDays, OrganisationFilter, day_filter


class RechargeTable(Table):
    caption = _("Recharges")
    export = "recharges"
    reference = Cell(
        template_name="console/cells/recharge_reference.html",
        verbose_name=_("Reference and note"),
        order_by=("ref",),
        attrs=column(width=FULL),
    )
    organisation = tables.Column(
        order_by=("organisation__name",), verbose_name=_("Organisation"), attrs=column(width=FULL)
    )
    payer = Cell(
        "{{ record.payer|default:'—' }}",
        verbose_name=_("Payer"),
        attrs=column(fold=_("Payer")),
    )
    paid_on = tables.DateColumn(
        format="Y-m-d", verbose_name=_("Value date"), attrs=column(fold=_("Value date"), numeric=True)
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
        verbose_name=_("Amount ¥"),
        attrs=column(fold="¥", numeric=True),
    )

    class Meta(Table.Meta):
        row_attrs = {"data-href": lambda record: reverse("console:recharge", args=[record.pk])}


class WaitingTable(Table):
    """Requests that a second person decides on."""

    caption = _("Waiting for a second person")
    reference = Cell(
        "<a class='pl-name' href='{% url \"console:recharge_request\" record.pk %}'>{{ record.name }}</a>"
        "{% if record.note %}<span class='pl-sub'>{{ record.note }}</span>{% endif %}",
        verbose_name=_("Reference and note"),
        attrs=column(width=FULL),
    )
    kind = Cell("{{ record.get_kind_display }}", verbose_name=_("Kind"), attrs=column(fold=_("Kind")))
    organisation = tables.Column(
        order_by=("organisation__name",), verbose_name=_("Organisation"), attrs=column(width=FULL)
    )
    requested_by = Cell(
        "{{ record.requested_by.display_name }}",
        verbose_name=_("Asked by"),
        order_by=("requested_by__username",),
        attrs=column(fold=_("Asked by")),
    )
    created_at = Cell(
        "{% load pl %}{% when record.created_at %}",
        verbose_name=_("When"),
        attrs=column(fold=_("When"), numeric=True),
    )
    amount_fen = Cell(
        "{% load pl %}<span class='pl-strong'>{{ record.amount_fen|amount }}</span>",
        verbose_name=_("Amount ¥"),
        attrs=column(fold="¥", numeric=True),
    )

    class Meta(Table.Meta):
        row_attrs = {"data-href": lambda record: reverse("console:recharge_request", args=[record.pk])}


class RechargeFilter(BetweenDays):
    q = django_filters.CharFilter(method="search", label=_("Reference, note or who"), widget=search_box())
    organisation = OrganisationFilter()
    since = day_filter("from_day", _("From"))
    until = day_filter("to_day", _("To"))

    class Meta:
        model = Transfer
        fields: tuple[str, ...] = ()

    def search(self, rows: QuerySet[Transfer], name: str, value: str) -> QuerySet[Transfer]:
        return rows.filter(Q(ref__icontains=value) | Q(note__icontains=value) | Q(actor_label__icontains=value))
