"""Statements of all organisations as the list's filters show them."""

from typing import Any

from django.utils.translation import gettext_lazy as _

from apps.billing.exports.columns import CellFormat, Column
from apps.billing.exports.lists import ExportedList
from apps.billing.formula import yuan_of
from apps.billing.statements.selectors import statements
from apps.common.permissions import Permission as P
from apps.common.spreadsheets import Cell
from apps.console.finance.statements.listing import StatementFilter


def _statement(row: Any) -> list[Cell]:
    return [
        row.organisation.name,
        row.period,
        row.number,
        row.get_state_display(),
        yuan_of(row.received_fen),
        yuan_of(row.recognised_fen),
        yuan_of(row.total_fen),
        yuan_of(row.closing_fen),
        row.issued_at,
    ]


STATEMENTS = ExportedList(
    name="statements",
    label=_("Statements"),
    permission=P.PLATFORM_FINANCE_VIEW,
    platform=True,
    rows=lambda actor, asked: statements(actor),
    filters=StatementFilter,
    order=("-period", "organisation__name", "pk"),
    columns=(
        Column(_("Organisation"), width=24),
        Column(_("Month"), width=10),
        Column(_("Number"), width=22),
        Column(_("State")),
        Column(_("Paid in ¥"), CellFormat.YUAN, adds=True),
        Column(_("Prepaid, earned ¥"), CellFormat.YUAN, adds=True),
        Column(_("Consumption ¥"), CellFormat.YUAN, adds=True),
        Column(_("Balance at the end ¥"), CellFormat.YUAN, adds=True),
        Column(_("Issued at"), CellFormat.MOMENT, 20),
    ),
    cells=_statement,
)
