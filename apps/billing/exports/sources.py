"""What stands in the files: for each kind its columns, its rows and how a row becomes cells.

Money is in yuan as a decimal number. Columns that can be added have a sum in the last row of the file; the first of
them in whole fen is the export's amount.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from django.db.models import QuerySet
from django.utils.translation import gettext_lazy as _

from apps.billing.export_choices import ExportKind
from apps.billing.exports.columns import Column, Source
from apps.billing.exports.money_rows import RECHARGES, TOP_UPS, TRANSFERS
from apps.billing.exports.usage_rows import CHARGES, STATEMENTS
from apps.billing.exports.wanted import Wanted
from apps.common.actor import Actor
from apps.common.permissions import Permission
from apps.common.spreadsheets import Cell

ORGANISATION = Column(_("Organisation"), width=24)
SOURCES: Mapping[ExportKind, Source] = {
    ExportKind.CHARGES: CHARGES,
    ExportKind.STATEMENTS: STATEMENTS,
    ExportKind.RECHARGES: RECHARGES,
    ExportKind.TOP_UPS: TOP_UPS,
    ExportKind.TRANSFERS: TRANSFERS,
}


@dataclass(frozen=True, slots=True)
class Sheet:
    """A source as one actor gets it: the platform's staff see whose each row is."""

    source: Source
    across: bool

    @property
    def columns(self) -> Sequence[Column]:
        return (ORGANISATION, *self.source.columns) if self.across else self.source.columns

    def cells(self, row: Any) -> list[Cell]:
        found = self.source.cells(row)
        return [row.organisation.name if row.organisation else "", *found] if self.across else found


def sheet_of(actor: Actor, kind: ExportKind) -> Sheet:
    return Sheet(SOURCES[kind], actor.platform)


def may_export(actor: Actor, kind: ExportKind) -> bool:
    source = SOURCES.get(kind)
    if source is None:
        return False
    return actor.may(Permission.PLATFORM_FINANCE_VIEW if actor.platform else source.permission)


def rows_of(actor: Actor, wanted: Wanted) -> QuerySet[Any]:
    """All rows of the file in the order in which they were written; raises `Denied` where the actor may not."""
    source = SOURCES[wanted.kind]
    actor.require(Permission.PLATFORM_FINANCE_VIEW if actor.platform else source.permission)
    return source.rows(actor, wanted).order_by(*source.order)
