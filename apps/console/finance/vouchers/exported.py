"""Vouchers of all organisations as a file."""

from typing import Any

from django.utils.translation import gettext_lazy as _

from apps.billing.choices import VoucherState
from apps.billing.exports.columns import CellFormat, Column
from apps.billing.exports.lists import ExportedList
from apps.billing.formula import yuan_of
from apps.billing.vouchers.selectors import vouchers
from apps.common.permissions import Permission as P
from apps.common.spreadsheets import Cell
from apps.console.finance.vouchers.listing import VoucherFilter


def _voucher(row: Any) -> list[Cell]:
    return [
        row.organisation.name,
        row.get_scope_display(),
        str(VoucherState(row.state).label),
        row.valid_from,
        row.valid_until,
        yuan_of(row.amount_fen),
        yuan_of(row.used_fen),
        yuan_of(row.left_fen),
        row.note,
        row.issued_by,
        row.transfer_id,
    ]


VOUCHERS = ExportedList(
    name="vouchers",
    label=_("Vouchers"),
    permission=P.PLATFORM_FINANCE_VIEW,
    platform=True,
    rows=lambda actor, asked: vouchers(actor),
    filters=VoucherFilter,
    order=("-created_at", "-pk"),
    columns=(
        Column(_("Organisation"), width=24),
        Column(_("Pays for"), width=18),
        Column(_("State")),
        Column(_("Valid from"), CellFormat.MOMENT, 20),
        Column(_("Valid until"), CellFormat.MOMENT, 20),
        Column(_("Amount ¥"), CellFormat.YUAN, adds=True),
        Column(_("Used so far ¥"), CellFormat.YUAN, adds=True),
        Column(_("Left ¥"), CellFormat.YUAN, adds=True),
        Column(_("Note"), width=30),
        Column(_("Issued by"), width=18),
        Column(_("Ledger entry"), CellFormat.WHOLE, 12),
    ),
    cells=_voucher,
)
