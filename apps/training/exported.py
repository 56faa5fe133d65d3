"""Training runs as a file."""

from typing import Any

from django.utils.translation import gettext_lazy as _

from apps.billing.exports.columns import CellFormat, Column
from apps.billing.exports.lists import AskedShape, ExportedList
from apps.common.permissions import Permission as P
from apps.common.spreadsheets import Cell
from apps.training import columns
from apps.training.selectors import runs
from apps.training.tables import RunFilter


def _cells(row: Any) -> list[Cell]:
    workload = row.workload
    return [
        row.name,
        row.version,
        row.owner.display_name,
        workload.get_status_display(),
        row.image.name,
        workload.package.name_en,
        row.paid_rate / 100,
        row.note,
        row.created_at,
        workload.started_at,
        workload.ended_at,
        str(row.pk),
    ]


RUNS = ExportedList(
    name="runs",
    label=_("Training runs"),
    permission=P.TRAINING_VIEW,
    whole=P.TRAINING_MANAGE_ALL,
    platform=False,
    rows=lambda actor, asked: columns.with_columns(runs(actor), asked),
    filters=RunFilter,
    order=("-created_at", "-pk"),
    asked=AskedShape(columns=columns.file_columns, cells=columns.file_cells, order=columns.file_order),
    columns=(
        Column(_("Name"), width=28),
        Column(_("Version"), CellFormat.WHOLE, 8),
        Column(_("Owner"), width=20),
        Column(_("State")),
        Column(_("Image"), width=22),
        Column(_("Package"), width=22),
        Column("¥/h", CellFormat.EXACT),
        Column(_("Note"), width=30),
        Column(_("Submitted"), CellFormat.MOMENT, 20),
        Column(_("Started"), CellFormat.MOMENT, 20),
        Column(_("Ended"), CellFormat.MOMENT, 20),
        Column(_("Id"), width=38),
    ),
    cells=_cells,
)
