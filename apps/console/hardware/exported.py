"""Nodes as a file."""

from typing import Any

from django.utils.translation import gettext_lazy as _

from apps.billing.exports.columns import CellFormat, Column
from apps.billing.exports.lists import ExportedList
from apps.common.permissions import Permission as P
from apps.common.spreadsheets import Cell
from apps.console.hardware.nodes.listing import NodeFilter
from apps.console.hardware.nodes.selectors import nodes


def _node(row: Any) -> list[Cell]:
    return [
        row.cluster.zone.name,
        row.cluster.name,
        row.name,
        row.get_status_display(),
        row.arch,
        row.address,
        row.cpu_milli // 1000,
        row.memory_mib,
        row.card_count,
        row.unwell_count,
        row.held_cards,
        row.held_runs,
        row.last_seen_at,
        str(_("yes") if row.cluster.zone.simulated else _("no")),
    ]


NODES = ExportedList(
    name="nodes",
    label=_("Nodes"),
    permission=P.PLATFORM_NODES_VIEW,
    platform=True,
    rows=lambda actor, asked: nodes(actor),
    filters=NodeFilter,
    order=("name", "pk"),
    columns=(
        Column(_("Zone"), width=18),
        Column(_("Cluster"), width=18),
        Column(_("Node"), width=22),
        Column(_("State")),
        Column(_("Architecture"), width=12),
        Column(_("Node address"), width=22),
        Column(_("CPU cores"), CellFormat.WHOLE, 10),
        Column(_("Memory, MiB"), CellFormat.WHOLE, 12),
        Column(_("Cards"), CellFormat.WHOLE, 8),
        Column(_("Cards not healthy"), CellFormat.WHOLE, 10),
        Column(_("Cards in use"), CellFormat.WHOLE, 10),
        Column(_("Running"), CellFormat.WHOLE, 10),
        Column(_("Last seen"), CellFormat.MOMENT, 20),
        Column(_("Simulated")),
    ),
    cells=_node,
)
