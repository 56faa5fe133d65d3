"""Environments as a file."""

from typing import Any

from django.utils.translation import gettext_lazy as _

from apps.billing.exports.columns import CellFormat, Column
from apps.billing.exports.lists import ExportedList
from apps.common.permissions import Permission as P
from apps.common.spreadsheets import Cell
from apps.envs.selectors import environments
from apps.envs.tables import EnvironmentFilter

COLUMNS = (
    Column(_("Owner"), width=20),
    Column(_("Name"), width=24),
    Column(_("SSH name"), width=18),
    Column(_("State")),
    Column(_("Image"), width=22),
    Column(_("Package"), width=22),
    Column("¥/h", CellFormat.EXACT),
    Column(_("Expires at"), CellFormat.MOMENT, 20),
    Column(_("Created"), CellFormat.MOMENT, 20),
)


def cells(row: Any) -> list[Cell]:
    return [
        row.owner.display_name,
        row.name,
        row.code,
        row.workload.get_status_display() if row.workload else str(_("Stopped")),
        row.image.name,
        row.package.name_en,
        None if row.paid_rate is None else row.paid_rate / 100,
        row.expires_at,
        row.created_at,
    ]


ENVIRONMENTS = ExportedList(
    name="environments",
    label=_("Environments"),
    permission=P.ENVIRONMENTS_VIEW,
    whole=P.ENVIRONMENTS_MANAGE_ALL,
    platform=False,
    rows=lambda actor, asked: environments(actor),
    filters=EnvironmentFilter,
    order=("-created_at", "-pk"),
    columns=COLUMNS,
    cells=cells,
)
