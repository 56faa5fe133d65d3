"""Searches on tables as a file."""

from typing import Any

from django.utils.translation import gettext_lazy as _

from apps.billing.exports.columns import CellFormat, Column
from apps.billing.exports.lists import ExportedList
from apps.common.permissions import Permission as P
from apps.common.spreadsheets import Cell
from apps.tabular.selectors import searches
from apps.tabular.tables import TableSearchFilter
from apps.workloads.choices import Status


def _cells(row: Any) -> list[Cell]:
    return [
        row.name,
        row.owner.display_name,
        f"{row.dataset_name} v{row.dataset_number}",
        row.path,
        row.target,
        row.get_task_display(),
        row.get_metric_display(),
        str(Status(row.status).label),
        row.settings["minutes"],
        row.note,
        row.created_at,
        str(row.run_id),
        str(row.pk),
    ]


SEARCHES = ExportedList(
    name="table-searches",
    label=_("Searches on tables"),
    permission=P.TRAINING_VIEW,
    whole=P.TRAINING_MANAGE_ALL,
    platform=False,
    rows=lambda actor, asked: searches(actor),
    filters=TableSearchFilter,
    order=("-created_at", "-pk"),
    columns=(
        Column(_("Name"), width=28),
        Column(_("Owner"), width=20),
        Column(_("Dataset"), width=28),
        Column(_("File"), width=28),
        Column(_("Column to predict"), width=20),
        Column(_("Task")),
        Column(_("Metric"), width=22),
        Column(_("State")),
        Column(_("Minutes to search"), CellFormat.WHOLE, 10),
        Column(_("Note"), width=30),
        Column(_("Started"), CellFormat.MOMENT, 20),
        Column(_("Training run"), width=38),
        Column(_("Id"), width=38),
    ),
    cells=_cells,
)
