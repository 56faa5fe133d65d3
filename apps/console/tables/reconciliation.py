"""Lists of the reconciliation with Alipay: days, and payments beside each other."""

import django_tables2 as tables
from django.urls import reverse
from django.utils.translation import gettext_lazy as _

from apps.billing.models import BillDay, BillItem
from apps.common.cells import Cell
from apps.common.tables import FULL, Table, column

AMOUNT = "{% load pl %}{% if value is None %}—{% else %}{{ value|amount }}{% endif %}"


class BillDayTable(Table):
    caption = _("Days of Alipay's account")
    day = Cell(
        template_name="console/cells/bill_day.html", verbose_name=_("Day"), order_by=("day",), attrs=column(width=FULL)
    )
    payments = tables.Column(
        verbose_name=_("Payments and refunds"), orderable=False, attrs=column(fold=_("Payments"), numeric=True)
    )
    theirs_fen = Cell(
        AMOUNT, verbose_name=_("Alipay ¥"), orderable=False, attrs=column(fold=_("Alipay ¥"), numeric=True)
    )
    ours_fen = Cell(AMOUNT, verbose_name=_("Ours ¥"), orderable=False, attrs=column(fold=_("Ours ¥"), numeric=True))
    difference_fen = Cell(
        "{% load pl %}<span{% if value %} class='pl-strong'{% endif %}>{{ value|amount }}</span>",
        verbose_name=_("Difference ¥"),
        orderable=False,
        attrs=column(fold=_("Difference ¥"), numeric=True),
    )
    fees_fen = Cell(
        AMOUNT, verbose_name=_("Fees ¥"), orderable=False, attrs=column("pl-wide", fold=_("Fees ¥"), numeric=True)
    )

    class Meta(Table.Meta):
        model = BillDay
        fields: tuple[str, ...] = ()
        sequence = ("day", "payments", "theirs_fen", "ours_fen", "difference_fen", "fees_fen")
        row_attrs = {"data-href": lambda record: reverse("console:reconciliation_day", args=[record.day.isoformat()])}


class BillItemTable(Table):
    caption = _("Payments and refunds")
    number = Cell(
        template_name="console/cells/bill_item.html",
        verbose_name=_("Number"),
        order_by=("out_trade_no",),
        accessor="out_trade_no",
        attrs=column(width=FULL),
    )
    organisation = Cell(
        "{{ record.organisation.name|default:'—' }}",
        order_by=("organisation__name",),
        verbose_name=_("Organisation"),
        attrs=column(width=FULL),
    )
    paid_at = Cell(
        "{% load pl %}{% when record.paid_at seconds=True %}",
        verbose_name=_("When"),
        attrs=column("pl-wide", fold=_("When"), numeric=True),
    )
    theirs_fen = Cell(AMOUNT, verbose_name=_("Alipay ¥"), attrs=column(fold=_("Alipay ¥"), numeric=True))
    ours_fen = Cell(AMOUNT, verbose_name=_("Ours ¥"), attrs=column(fold=_("Ours ¥"), numeric=True))

    class Meta(Table.Meta):
        model = BillItem
        fields: tuple[str, ...] = ()
        sequence = ("number", "organisation", "paid_at", "theirs_fen", "ours_fen")
        row_attrs = {"data-href": lambda record: reverse("console:reconciliation_item", args=[record.pk])}
