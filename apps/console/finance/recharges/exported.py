"""Recharges of all organisations as the list's filters show them."""

from typing import Any

from django.utils.translation import gettext_lazy as _

from apps.billing.exports.columns import Column
from apps.billing.exports.lists import ExportedList
from apps.billing.exports.money_rows import RECHARGES as SOURCE
from apps.billing.recharges.selectors import recharges
from apps.common.permissions import Permission as P
from apps.common.spreadsheets import Cell
from apps.console.finance.recharges.listing import RechargeFilter


def _recharge(row: Any) -> list[Cell]:
    return [row.organisation.name, *SOURCE.cells(row)]


RECHARGES = ExportedList(
    name="recharges",
    label=_("Recharges"),
    permission=P.PLATFORM_FINANCE_VIEW,
    platform=True,
    rows=lambda actor, asked: recharges(actor),
    filters=RechargeFilter,
    order=("-at", "-pk"),
    columns=(Column(_("Organisation"), width=24), *SOURCE.columns),
    cells=_recharge,
)
