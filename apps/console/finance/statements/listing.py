"""The list of statements: its columns and filters; page and API share the filters."""

from typing import Any

import django_filters
import django_tables2 as tables
from django.urls import reverse
from django.utils.translation import gettext_lazy as _

from apps.billing.choices import StatementState
from apps.billing.models import Statement
from apps.billing.statements.filters import BillFilter
from apps.common.cells import Cell
from apps.common.tables import FULL, Table, column
from apps.console.kit.filters import OrganisationFilter


class StatementTable(Table):
    """`manages`: whether the reader may review and issue."""

    caption = _("Statements")
    export = "statements"
    pick = Cell(
        template_name="console/cells/statement_pick.html",
        verbose_name="",
        orderable=False,
        empty_values=(),
        attrs=column("pl-wide"),
    )
    organisation = Cell(
        "<a class='pl-name' href='{% url \"console:statement\" record.pk %}'>{{ record.organisation.name }}</a>"
        "{% if record.number %}<span class='pl-sub pl-code'>{{ record.number }}</span>{% endif %}",
        order_by=("organisation__name",),
        verbose_name=_("Organisation"),
        attrs=column(width=FULL),
    )
    period = tables.Column(verbose_name=_("Month"), attrs=column(fold=_("Month")))
    state = Cell(
        template_name="console/cells/statement_state.html", verbose_name=_("State"), attrs=column(fold=_("State"))
    )
    received_fen = Cell(
        "{% load pl %}{{ record.received_fen|amount }}",
        verbose_name=_("Paid in ¥"),
        attrs=column("pl-roomy", fold=_("Paid in ¥"), numeric=True),
    )
    recognised_fen = Cell(
        "{% load pl %}{{ record.recognised_fen|amount }}",
        verbose_name=_("Prepaid, earned ¥"),
        attrs=column("pl-roomy", fold=_("Prepaid, earned ¥"), numeric=True),
    )
    total_fen = Cell(
        "{% load pl %}<span class='pl-strong'>{{ record.total_fen|amount }}</span>",
        verbose_name=_("Consumption ¥"),
        attrs=column(fold=_("Consumption ¥"), numeric=True),
    )
    closing_fen = Cell(
        "{% load pl %}{{ record.closing_fen|amount }}",
        verbose_name=_("Balance at the end ¥"),
        attrs=column(fold=_("Balance at the end ¥"), numeric=True),
    )

    class Meta(Table.Meta):
        row_attrs = {"data-href": lambda record: reverse("console:statement", args=[record.pk])}

    def __init__(self, *args: Any, manages: bool, **kwargs: Any) -> None:
        super().__init__(*args, exclude=() if manages else ("pick",), **kwargs)


class StatementFilter(BillFilter):
    organisation = OrganisationFilter()
    state = django_filters.ChoiceFilter(choices=StatementState.choices, label=_("State"), empty_label=_("Any state"))

    class Meta:
        model = Statement
        fields: tuple[str, ...] = ()

    @property
    def narrowed(self) -> bool:
        """Whether anything but the month is filtered; an empty month's page says what comes instead."""
        return bool(set(self.form.changed_data) - {"period"})
