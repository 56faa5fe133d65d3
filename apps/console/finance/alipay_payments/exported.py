"""Payments by Alipay of all organisations as the list's filters show them."""

from typing import Any

from django.utils.translation import gettext_lazy as _

from apps.billing.bill_choices import BillOutcome
from apps.billing.exports.columns import Column
from apps.billing.exports.lists import ExportedList
from apps.billing.exports.money_rows import TOP_UPS as SOURCE
from apps.billing.payments.alipay.looking import payments
from apps.common.permissions import Permission as P
from apps.common.spreadsheets import Cell
from apps.console.finance.alipay_payments.listing import AlipayPaymentFilter
from apps.console.kit.words import CHANNELS


def _payment(row: Any) -> list[Cell]:
    compared = str(BillOutcome(row.outcome).label) if row.outcome else str(_("Not compared yet"))
    return [row.organisation.name, *SOURCE.cells(row), str(CHANNELS.get(row.channel, "")), compared]


PAYMENTS = ExportedList(
    name="alipay_payments",
    label=_("Payments by Alipay"),
    permission=P.PLATFORM_FINANCE_VIEW,
    platform=True,
    rows=lambda actor, asked: payments(actor),
    filters=AlipayPaymentFilter,
    order=("-created_at", "-pk"),
    columns=(
        Column(_("Organisation"), width=24),
        *SOURCE.columns,
        Column(_("Channel"), width=16),
        Column(_("Reconciliation"), width=24),
    ),
    cells=_payment,
)
