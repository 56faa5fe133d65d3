"""Schedules as a file."""

from typing import Any

from django.utils.translation import gettext_lazy as _

from apps.billing.exports.columns import CellFormat, Column
from apps.billing.exports.lists import ExportedList
from apps.common.permissions import Permission as P
from apps.common.spreadsheets import Cell
from apps.schedules.selectors import schedules
from apps.schedules.tables import ScheduleFilter, what_starts


def _cells(row: Any) -> list[Cell]:
    return [
        row.name,
        row.owner.display_name,
        what_starts(row),
        row.get_status_display(),
        row.cron,
        row.get_overlap_display(),
        row.next_at,
        row.from_at,
        row.until_at,
        row.created_at,
        str(row.pk),
    ]


SCHEDULES = ExportedList(
    name="schedules",
    label=_("Schedules"),
    permission=P.TRAINING_VIEW,
    whole=P.TRAINING_MANAGE_ALL,
    platform=False,
    rows=lambda actor, asked: schedules(actor),
    filters=ScheduleFilter,
    order=("-created_at", "-pk"),
    columns=(
        Column(_("Name"), width=28),
        Column(_("Owner"), width=20),
        Column(_("What it starts"), width=28),
        Column(_("State")),
        Column(_("When"), width=20),
        Column(_("If the last run has not ended"), width=30),
        Column(_("Next start"), CellFormat.MOMENT, 20),
        Column(_("Not before"), CellFormat.MOMENT, 20),
        Column(_("Not after"), CellFormat.MOMENT, 20),
        Column(_("Created"), CellFormat.MOMENT, 20),
        Column(_("Id"), width=38),
    ),
    cells=_cells,
)
