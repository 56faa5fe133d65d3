"""Models as a file, one row each."""

from typing import Any

from django.db.models import QuerySet
from django.http import QueryDict
from django.utils.translation import gettext_lazy as _

from apps.billing.exports.columns import CellFormat, Column
from apps.billing.exports.lists import ExportedList
from apps.common.actor import Actor
from apps.common.permissions import Permission as P
from apps.common.spreadsheets import Cell
from apps.modelhub import selectors
from apps.modelhub.choices import Format
from apps.modelhub.models import Model
from apps.storage.tables import StorageFilter


def model_rows(actor: Actor, asked: QueryDict) -> QuerySet[Model]:
    """Those that the list shows for what its address asks for."""
    in_bin = asked.get("bin") in ("on", "true", "1")
    return selectors.with_newest(selectors.binned(actor) if in_bin else selectors.models_for(actor))


def _cells(row: Any) -> list[Cell]:
    return [
        row.owner.display_name,
        row.name,
        row.newest_number,
        str(Format(row.newest_format).label) if row.newest_format else "",
        row.newest_bytes,
        row.note,
        row.created_at,
    ]


MODELS = ExportedList(
    name="models",
    label=_("Models"),
    permission=P.MODELS_VIEW,
    whole=P.MODELS_MANAGE_ALL,
    platform=False,
    rows=model_rows,
    filters=StorageFilter,
    order=("-created_at", "-pk"),
    columns=(
        Column(_("Owner"), width=20),
        Column(_("Name"), width=24),
        Column(_("Newest version"), CellFormat.WHOLE, 10),
        Column(_("Its format"), width=22),
        Column(_("Its size, bytes"), CellFormat.WHOLE, 16),
        Column(_("Note"), width=30),
        Column(_("Made"), CellFormat.MOMENT, 20),
    ),
    cells=_cells,
)
