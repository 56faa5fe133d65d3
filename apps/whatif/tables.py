"""The list of scenarios."""

from typing import Any

import django_tables2 as tables
from django.urls import reverse
from django.utils.translation import gettext_lazy as _

from apps.common.tables import FULL, Table, column


class ScenarioTable(Table):
    caption = _("Scenarios")
    name = tables.TemplateColumn(
        template_name="whatif/cells/name.html", verbose_name=_("Name"), attrs=column("o-1", width=FULL)
    )
    status = tables.TemplateColumn(
        template_name="whatif/cells/status.html", verbose_name=_("Status"), attrs=column("pl-inline", width=FULL)
    )
    start = tables.TemplateColumn(
        template_name="whatif/cells/span.html", verbose_name=_("Span"), attrs=column(fold=_("Span"), width=FULL)
    )
    tasks = tables.Column(
        accessor="task_count",
        verbose_name=_("Tasks"),
        orderable=False,
        attrs=column(fold=_("Tasks"), numeric=True),
    )
    made_by = tables.Column(verbose_name=_("By"), attrs=column("pl-roomy", fold=_("By")))
    created_at = tables.TemplateColumn(
        "{% load pl %}{% when record.created_at %}",
        verbose_name=_("Started"),
        attrs=column(fold=_("Started"), numeric=True),
    )

    class Meta(Table.Meta):
        row_attrs: dict[str, Any] = {"data-href": lambda record: reverse("whatif:scenario", args=[record.pk])}
        sequence = ("name", "status", "start", "tasks", "made_by", "created_at")

    def render_tasks(self, value: int) -> str:
        return f"{value:,}"
