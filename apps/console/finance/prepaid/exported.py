"""Prepaid orders of all organisations as a file."""

from typing import Any

from django.utils.translation import gettext_lazy as _

from apps.billing.exports.columns import CellFormat, Column
from apps.billing.exports.lists import ExportedList
from apps.billing.formula import yuan_of
from apps.billing.prepaid.selectors import prepaid_orders
from apps.common.permissions import Permission as P
from apps.common.spreadsheets import Cell
from apps.console.finance.prepaid.listing import PrepaidFilter


def _order(row: Any) -> list[Cell]:
    return [
        row.organisation.name,
        row.user.display_name,
        row.package.name_en,
        row.quantity,
        row.get_term_display(),
        row.get_status_display(),
        row.starts_at,
        row.ends_at,
        yuan_of(row.paid_fen),
        yuan_of(row.earned_fen),
        yuan_of(row.given_back_fen),
        yuan_of(row.left_fen),
        str(row.pk),
    ]


ORDERS = ExportedList(
    name="prepaid",
    label=_("Prepaid"),
    permission=P.PLATFORM_FINANCE_VIEW,
    platform=True,
    rows=lambda actor, asked: prepaid_orders(actor),
    filters=PrepaidFilter,
    order=("-created_at", "-pk"),
    columns=(
        Column(_("Organisation"), width=24),
        Column(_("Bought by"), width=18),
        Column(_("Package"), width=22),
        Column(_("Quantity"), CellFormat.WHOLE, 8),
        Column(_("Term")),
        Column(_("State")),
        Column(_("Starts at"), CellFormat.MOMENT, 20),
        Column(_("Ends at"), CellFormat.MOMENT, 20),
        Column(_("Paid ¥"), CellFormat.YUAN, adds=True),
        Column(_("Earned ¥"), CellFormat.YUAN, adds=True),
        Column(_("Given back ¥"), CellFormat.YUAN, adds=True),
        Column(_("Left ¥"), CellFormat.YUAN, adds=True),
        Column(_("Order number"), width=38),
    ),
    cells=_order,
)
