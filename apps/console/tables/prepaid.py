"""Lists of prepaid orders and of prices by the period."""

import django_tables2 as tables
from django.urls import reverse
from django.utils.translation import gettext_lazy as _

from apps.common.cells import Cell
from apps.common.tables import FULL, Table, column
from apps.console.tables.catalogue import VersionTable


class PrepaidTable(Table):
    caption = _("Prepaid orders")
    package = Cell(
        "{% load prepaid %}<a class='pl-name' href='{% url \"console:prepaid_order\" record.pk %}'>"
        "{{ record|prepaid_name }}</a><span class='pl-sub'>{{ record.get_term_display }}</span>",
        verbose_name=_("Package"),
        order_by=("package__name_en",),
        attrs=column("o-1", width=FULL),
    )
    organisation = tables.Column(
        order_by=("organisation__name",), verbose_name=_("Organisation"), attrs=column(width=FULL)
    )
    status = Cell(template_name="billing/prepaid/state.html", verbose_name=_("State"), attrs=column("o-2"))
    ends_at = Cell(
        "{% load pl %}{% when record.ends_at %}",
        verbose_name=_("Paid until"),
        attrs=column("pl-nowrap", fold=_("Paid until")),
    )
    paid_fen = Cell(
        "{% load pl %}<span class='pl-strong'>{{ record.paid_fen|amount }}</span>",
        verbose_name=_("Paid ¥"),
        attrs=column(fold=_("Paid ¥"), numeric=True),
    )
    earned_fen = Cell(
        "{% load pl %}{{ record.earned_fen|amount }}",
        verbose_name=_("Earned ¥"),
        attrs=column(fold=_("Earned ¥"), numeric=True),
    )
    left_fen = Cell(
        "{% load pl %}{{ record.left_fen|amount }}",
        verbose_name=_("Deferred ¥"),
        attrs=column(fold=_("Deferred ¥"), numeric=True),
    )

    class Meta(Table.Meta):
        row_attrs = {"data-href": lambda record: reverse("console:prepaid_order", args=[record.pk])}


class TermPriceTable(VersionTable):
    caption = _("Prices by the period")
    term = Cell("{{ record.get_term_display }}", verbose_name=_("Term"), orderable=False, attrs=column(fold=_("Term")))
    price_fen = Cell(
        "{% load pl %}<span class='pl-strong'>{{ record.price_fen|amount }}</span>",
        verbose_name=_("Price ¥"),
        orderable=False,
        attrs=column(fold=_("Price ¥"), numeric=True),
    )

    class Meta(Table.Meta):
        sequence = ("term", "number", "price_fen", "effective_from", "effective_to")
