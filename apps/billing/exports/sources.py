"""The contents of the files: for each kind its columns, its rows, and how a row becomes cells.

Money is in yuan as a decimal number. Columns that can be added have a sum in the last row of the file; the first of
them in whole fen is the export's amount.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from django.db.models import QuerySet
from django.utils.translation import gettext_lazy as _

from apps.billing.export_choices import ExportKind
from apps.billing.exports.columns import Column, Source
from apps.billing.exports.lists import exported_list
from apps.billing.exports.money_rows import RECHARGES, TOP_UPS, TRANSFERS
from apps.billing.exports.usage_rows import CHARGES, STATEMENTS
from apps.billing.exports.wanted import ExportSpec
from apps.common.actor import Actor
from apps.common.errors import NotFound
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

    title: str
    columns_of: Sequence[Column]
    cells_of: Callable[[Any], list[Cell]]
    across: bool

    @property
    def columns(self) -> Sequence[Column]:
        return (ORGANISATION, *self.columns_of) if self.across else self.columns_of

    def cells(self, row: Any) -> list[Cell]:
        found = self.cells_of(row)
        return [row.organisation.name if row.organisation else "", *found] if self.across else found


def sheet_of(actor: Actor, wanted: ExportSpec) -> Sheet:
    if wanted.kind is ExportKind.LIST:
        listed = exported_list(wanted.list_name)
        columns, cells = listed.columns_for(wanted.query), listed.cells_for(wanted.query)
        return Sheet(str(listed.label), columns, cells, across=False)
    source = SOURCES[wanted.kind]
    return Sheet(str(wanted.kind.label), source.columns, source.cells, actor.platform)


def needed(actor: Actor, wanted: ExportSpec) -> Permission:
    """The right that one needs for these rows; raises `NotFound` for a list that is not offered there."""
    if wanted.kind is not ExportKind.LIST:
        return Permission.PLATFORM_FINANCE_VIEW if actor.platform else SOURCES[wanted.kind].permission
    listed = exported_list(wanted.list_name)
    if listed.platform != actor.platform:
        raise NotFound
    return listed.permission


def needed_for_all(actor: Actor, wanted: ExportSpec) -> Permission | None:
    """The right with which the file holds rows of others; None where everybody with the first right sees the same."""
    if wanted.kind is ExportKind.LIST:
        return exported_list(wanted.list_name).whole
    return None if actor.platform else Permission.BILLING_VIEW


def may_export(actor: Actor, kind: ExportKind) -> bool:
    return kind in SOURCES and actor.may(needed(actor, ExportSpec(kind)))


def rows_of(actor: Actor, wanted: ExportSpec) -> QuerySet[Any]:
    """All rows of the file in the order in which they were written; raises `Denied` where the actor may not."""
    actor.require(needed(actor, wanted))
    if wanted.kind is ExportKind.LIST:
        listed = exported_list(wanted.list_name)
        return listed.ordered(listed.narrowed(actor, wanted.query), wanted.query)
    source = SOURCES[wanted.kind]
    return source.rows(actor, wanted).order_by(*source.order)
