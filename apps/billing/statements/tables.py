"""Lists of statements, and of the charges that a line of one is the sum of."""

from collections.abc import Callable
from typing import Any

import django_tables2 as tables
from django.core.paginator import Paginator
from django.http import HttpRequest
from django.urls import reverse
from django.utils.html import format_html
from django.utils.translation import gettext_lazy as _
from django_tables2 import RequestConfig

from apps.billing.models import Charge, StatementLine
from apps.common.cells import Cell
from apps.common.formatting import moment
from apps.common.tables import FULL, Table, column


class BillTable(Table):
    """An organisation's issued statements."""

    caption = _("Bills")
    period = Cell(
        '<a class="pl-name" href="{% url "billing:bill" record.pk %}">{{ record.period }}</a>'
        '<span class="pl-sub pl-code">{{ record.number }}</span>',
        verbose_name=_("Month"),
        attrs=column(width=FULL),
    )
    issued_at = Cell(
        "{% load pl %}{% when record.issued_at %}", verbose_name=_("Issued at"), attrs=column(fold=_("Issued at"))
    )
    received_fen = Cell(
        "{% load pl %}{{ record.received_fen|amount }}",
        verbose_name=_("Paid in ¥"),
        attrs=column(fold=_("Paid in ¥"), numeric=True),
    )
    total_fen = Cell(
        '{% load pl %}<span class="pl-strong">{{ record.total_fen|amount }}</span>',
        verbose_name=_("Consumption ¥"),
        attrs=column(fold=_("Consumption ¥"), numeric=True),
    )
    closing_fen = Cell(
        "{% load pl %}{{ record.closing_fen|amount }}",
        verbose_name=_("Balance at the end ¥"),
        attrs=column(fold=_("Balance at the end ¥"), numeric=True),
    )

    class Meta(Table.Meta):
        order_by = "-period"
        row_attrs = {"data-href": lambda record: reverse("billing:bill", args=[record.pk])}


class ChargeTable(Table):
    """Charges of a line, oldest first. `opens`: where a charge is explained."""

    caption = _("Charges")
    start = tables.Column(verbose_name=_("Slice and run"), orderable=False, attrs=column(width=FULL))
    calculation = Cell(
        '{% load charges %}<span class="pl-code pl-small">{{ record|calculation }}</span>',
        empty_values=(),
        verbose_name=_("Calculation"),
        orderable=False,
        attrs=column("pl-wide"),
    )
    seconds = Cell(
        "{% load charges %}{{ record.seconds|plain }}",
        verbose_name=_("Seconds"),
        orderable=False,
        attrs=column("pl-roomy", fold=_("Seconds"), numeric=True),
    )
    exact_fen = Cell(
        "{% load statements %}{{ record.exact_fen|line_exact }}",
        verbose_name=_("Exact ¥"),
        orderable=False,
        attrs=column(fold=_("Exact ¥"), numeric=True),
    )

    class Meta(Table.Meta):
        row_attrs = {"data-href": lambda record, table: table.opens(record)}

    def __init__(self, *args: Any, opens: Callable[[Charge], str], **kwargs: Any) -> None:
        self.opens = opens
        super().__init__(*args, **kwargs)

    def render_start(self, record: Charge) -> str:
        session = record.session
        return format_html(
            '<a class="pl-name" href="{}">{}</a><span class="pl-sub">{} · {}</span>',
            self.opens(record),
            moment(record.start, seconds=True),
            session.label,
            session.user.display_name,
        )


class CountedPaginator(Paginator):  # type: ignore[type-arg]  # not generic at run time
    """Pages of a list whose length is known without counting."""

    def __init__(self, *args: Any, known: int, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.known = known

    @property
    def count(self) -> int:
        return self.known


def paged_by_line(request: HttpRequest, table: ChargeTable, line: StatementLine, per_page: int = 25) -> ChargeTable:
    """A line knows how many charges it is the sum of, however many there are."""
    paginate = {"per_page": per_page, "silent": True, "paginator_class": CountedPaginator, "known": line.count}
    RequestConfig(request, paginate=paginate).configure(table)
    return table
