"""Invoices of all organisations as a file."""

from typing import Any

from django.utils.translation import gettext_lazy as _

from apps.billing.exports.columns import CellFormat, Column
from apps.billing.exports.lists import ExportedList
from apps.billing.formula import yuan_of
from apps.billing.invoices.selectors import invoices
from apps.common.permissions import Permission as P
from apps.common.spreadsheets import Cell
from apps.console.finance.invoices.listing import InvoiceFilter


def _invoice(row: Any) -> list[Cell]:
    return [
        row.organisation.name,
        row.created_at,
        row.title,
        row.tax_number,
        row.get_kind_display(),
        row.get_state_display(),
        row.number,
        row.issued_on,
        row.red_number,
        yuan_of(row.amount_fen),
        row.requested_by.display_name,
    ]


INVOICES = ExportedList(
    name="invoices",
    label=_("Invoices"),
    permission=P.PLATFORM_FINANCE_VIEW,
    platform=True,
    rows=lambda actor, asked: invoices(actor),
    filters=InvoiceFilter,
    order=("-created_at", "-pk"),
    columns=(
        Column(_("Organisation"), width=24),
        Column(_("Requested at"), CellFormat.MOMENT, 20),
        Column(_("Made out to"), width=30),
        Column(_("Tax number"), width=22),
        Column(_("Kind"), width=18),
        Column(_("State")),
        Column(_("Invoice number"), width=22),
        Column(_("Issued on"), CellFormat.DAY, 12),
        Column(_("Number of the red invoice"), width=22),
        Column(_("Amount ¥"), CellFormat.YUAN, adds=True),
        Column(_("Asked by"), width=18),
    ),
    cells=_invoice,
)
