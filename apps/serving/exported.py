"""Services as a file."""

from typing import Any

from django.utils.translation import gettext_lazy as _

from apps.billing.exports.columns import CellFormat, Column
from apps.billing.exports.lists import ExportedList
from apps.common.permissions import Permission as P
from apps.common.spreadsheets import Cell
from apps.serving.door.addresses import origin
from apps.serving.selectors import services
from apps.serving.tables import ServiceFilter

COLUMNS = (
    Column(_("Owner"), width=20),
    Column(_("Name"), width=24),
    Column(_("Address"), width=48),
    Column(_("Version")),
    Column(_("Package"), width=22),
    Column(_("Replicas"), CellFormat.WHOLE),
    Column(_("Created"), CellFormat.MOMENT, 20),
)


def cells(row: Any) -> list[Cell]:
    serving = next((each for each in row.open if each.active_at is not None), None)
    return [
        row.owner.display_name,
        row.name,
        origin(row.host),
        str(serving.version) if serving else "",
        row.package.name_en,
        row.replicas,
        row.created_at,
    ]


SERVICES = ExportedList(
    name="services",
    label=_("Model services"),
    permission=P.SERVICES_VIEW,
    whole=P.SERVICES_MANAGE_ALL,
    platform=False,
    rows=lambda actor, asked: services(actor),
    filters=ServiceFilter,
    order=("-created_at", "-pk"),
    columns=COLUMNS,
    cells=cells,
)
