"""The list of somebody's exports."""

from typing import Any

import django_tables2 as tables
from django.utils.translation import gettext_lazy as _

from apps.billing.exports.sending import file_name
from apps.billing.models import Export
from apps.common.tables import FULL, Table, column


class ExportTable(Table):
    caption = _("Exports")
    kind = tables.TemplateColumn(
        template_name="billing/exports/what.html", verbose_name=_("File"), attrs=column(width=FULL)
    )
    status = tables.TemplateColumn(
        template_name="billing/exports/state.html", verbose_name=_("State"), attrs=column(width=FULL)
    )
    done_rows = tables.TemplateColumn(
        "{% load humanize %}{{ record.done_rows|intcomma }}",
        verbose_name=_("Rows"),
        attrs=column(fold=_("Rows"), numeric=True),
    )
    amount_fen = tables.TemplateColumn(
        "{% load pl %}{{ record.amount_fen|amount }}",
        verbose_name=_("Total ¥"),
        attrs=column(fold=_("Total ¥"), numeric=True),
    )
    created_at = tables.TemplateColumn(
        "{% load pl %}{% when record.created_at %}",
        verbose_name=_("Requested at"),
        attrs=column("pl-nowrap", fold=_("Requested at"), numeric=True),
    )
    acts = tables.TemplateColumn(
        template_name="billing/exports/acts.html", verbose_name="", orderable=False, attrs=column("pl-acts")
    )

    class Meta(Table.Meta):
        model = Export
        fields = ()
        sequence = ("kind", "status", "done_rows", "amount_fen", "created_at", "acts")

    def __init__(self, *args: Any, section: str, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.download_url, self.cancel_url = f"{section}:export_download", f"{section}:export_cancel"

    def name_of(self, record: Export) -> str:
        return file_name(record)
