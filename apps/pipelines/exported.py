"""Pipelines as a file."""

from typing import Any

from django.utils.translation import gettext_lazy as _
from django.utils.translation import pgettext_lazy

from apps.billing.exports.columns import CellFormat, Column
from apps.billing.exports.lists import ExportedList
from apps.common.permissions import Permission as P
from apps.common.spreadsheets import Cell
from apps.pipelines.choices import RunStatus
from apps.pipelines.selectors import pipelines
from apps.pipelines.tables import PipelineFilter


def _cells(row: Any) -> list[Cell]:
    return [
        row.name,
        row.owner.display_name,
        row.newest,
        row.run_count,
        str(RunStatus(row.last_status).label) if row.last_status else "",
        row.last_at,
        row.note,
        row.created_at,
        str(row.pk),
    ]


PIPELINES = ExportedList(
    name="pipelines",
    label=_("Pipelines"),
    permission=P.TRAINING_VIEW,
    whole=P.TRAINING_MANAGE_ALL,
    platform=False,
    rows=lambda actor, asked: pipelines(actor),
    filters=PipelineFilter,
    order=("-created_at", "-pk"),
    columns=(
        Column(_("Name"), width=28),
        Column(_("Owner"), width=20),
        Column(_("Version"), CellFormat.WHOLE, 8),
        Column(pgettext_lazy("of a pipeline", "Runs"), CellFormat.WHOLE, 8),
        Column(_("Last run")),
        Column(_("Last started"), CellFormat.MOMENT, 20),
        Column(_("Note"), width=30),
        Column(_("Made"), CellFormat.MOMENT, 20),
        Column(_("Id"), width=38),
    ),
    cells=_cells,
)
