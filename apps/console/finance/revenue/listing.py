"""Revenue by organisation."""

from typing import Any

import django_tables2 as tables
from django.urls import reverse
from django.utils.html import format_html
from django.utils.translation import gettext_lazy as _

from apps.billing.months import Month
from apps.common.tables import FULL, Table, column


def _amount(name: str, label: Any, *classes: str) -> tables.TemplateColumn:
    return tables.TemplateColumn(
        f"{{% load pl %}}{{{{ record.{name}|amount }}}}",
        verbose_name=label,
        attrs=column(*classes, fold=label, numeric=True),
    )


class OrganisationRevenueTable(Table):
    """Rows as of `statements.revenue.by_organisation`; each opens the organisation's consumption of the month."""

    caption = _("Revenue by organisation")
    name = tables.Column(verbose_name=_("Organisation"), attrs=column(width=FULL))
    consumption_fen = _amount("consumption_fen", _("Used ¥"))
    adjusted_fen = _amount("adjusted_fen", _("Adjusted ¥"))
    prepaid_fen = _amount("prepaid_fen", _("Prepaid ¥"))
    fen = _amount("fen", _("Recognised ¥"))

    class Meta(Table.Meta):
        row_attrs = {"data-href": lambda record, table: table.link(record)}

    def __init__(self, *args: Any, month: Month, **kwargs: Any) -> None:
        self.month = month
        super().__init__(*args, **kwargs)

    def render_name(self, record: dict[str, Any]) -> str:
        return format_html('<a class="pl-name" href="{}">{}</a>', self.link(record), record["name"])

    def link(self, record: dict[str, Any]) -> str:
        span = f"since={self.month.first}&until={self.month.last}"
        return f"{reverse('console:consumption')}?{span}&organisation={record['organisation_id']}"
