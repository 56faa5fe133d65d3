"""Lists whose rows a person may have as a file: what their filters show, all pages of it.

A room declares its list beside the table and the filters of its page; `settings.EXPORTED_LISTS` names the declarations.
Rows come from the room's own selector, as the person who asked, when the file is written.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from types import SimpleNamespace
from typing import Any

from django.conf import settings
from django.db.models import QuerySet
from django.http import QueryDict
from django.utils.functional import Promise
from django.utils.module_loading import import_string
from django_filters import FilterSet

from apps.billing.exports.columns import Column
from apps.common.actor import Actor
from apps.common.errors import NotFound
from apps.common.permissions import Permission
from apps.common.spreadsheets import Cell


@dataclass(frozen=True, slots=True, kw_only=True)
class AskedShape:
    """What the page's address says of a file beside its filters: further columns, and an order, None for the list's."""

    columns: Callable[[QueryDict], Sequence[Column]]
    cells: Callable[[Any, QueryDict], list[Cell]]
    order: Callable[[QuerySet[Any], QueryDict], QuerySet[Any] | None]


@dataclass(frozen=True, slots=True, kw_only=True)
class ExportedList:
    """`name` stands in the addresses of its exports. `platform`: of the console; else of the portal.

    `rows`: of the actor and what the page's address asks for. `whole`: the right with which one sees rows of colleagues
    too; a file made with it is closed to its owner once they have lost it.
    """

    name: str
    label: str | Promise
    permission: Permission
    platform: bool
    rows: Callable[[Actor, QueryDict], QuerySet[Any]]
    columns: Sequence[Column]
    cells: Callable[[Any], list[Cell]]
    filters: type[FilterSet] | None = None
    whole: Permission | None = None
    order: tuple[str, ...] = ("pk",)
    asked: AskedShape | None = None

    def offered(self, actor: Actor) -> bool:
        return actor.platform == self.platform and actor.may(self.permission)

    def narrowed(self, actor: Actor, query: str) -> QuerySet[Any]:
        """The rows that the page shows for an address with this query; raises `Denied` where the actor may not."""
        actor.require(self.permission)
        asked = QueryDict(query)
        rows = self.rows(actor, asked)
        if self.filters is None:
            return rows
        found: QuerySet[Any] = self.filters(asked, queryset=rows, request=SimpleNamespace(actor=actor, GET=asked)).qs
        return found

    def ordered(self, rows: QuerySet[Any], query: str) -> QuerySet[Any]:
        found = self.asked.order(rows, QueryDict(query)) if self.asked is not None else None
        return rows.order_by(*self.order) if found is None else found

    def columns_for(self, query: str) -> Sequence[Column]:
        return self.columns if self.asked is None else (*self.columns, *self.asked.columns(QueryDict(query)))

    def cells_for(self, query: str) -> Callable[[Any], list[Cell]]:
        if self.asked is None:
            return self.cells
        asked, shape = QueryDict(query), self.asked
        return lambda row: [*self.cells(row), *shape.cells(row, asked)]


@cache
def exported_lists() -> dict[str, ExportedList]:
    """Every declared list by name. Raises `ImportError` where the settings name one that does not exist."""
    declared = [import_string(path) for path in settings.EXPORTED_LISTS]
    return {each.name: each for each in declared}


def exported_list(name: str) -> ExportedList:
    """Raises `NotFound`."""
    found = exported_lists().get(name)
    if found is None:
        raise NotFound
    return found
