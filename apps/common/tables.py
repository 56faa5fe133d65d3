"""The base of every list: its template, and the layout of columns on a desk and folded on a phone."""

import inspect
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, partial
from typing import Any

import django_tables2
from django.core.paginator import Page
from django.utils.functional import Promise
from django.utils.html import conditional_escape
from django.utils.safestring import SafeString, mark_safe
from django_tables2 import utils as library
from django_tables2.rows import BoundRow

from apps.common.cells import Cell
from apps.common.kept import kept, named

# On a phone a row is a small card of six columns; these name how many of them a cell takes: all, or three.
FULL, HALF = "c-6", ""


def column(*classes: str, fold: str | Promise = "", numeric: bool = False, width: str = HALF) -> dict[str, Any]:
    """`attrs` of a column: extra classes, its label in a folded row, numbers to the right, width in a folded row.

    Classes that mean something: `pl-roomy` (only on wide screens), `pl-wide` (not on phones), `pl-inline` (the second
    line follows the first when folded), `pl-acts` (row actions), `pl-corner` (a lone menu, in the corner when folded),
    `o-1`, `o-2` (first left, first right when folded).
    """
    names = " ".join(filter(None, [*classes, "pl-num" if numeric else "", width]))
    cell: dict[str, Any] = {"class": names} if names else {}
    return {"td": {**cell, "data-l": fold} if fold else cell, "th": {"class": names} if names else {}}


PICK = "components/bulk_pick.html"


@dataclass(frozen=True, slots=True)
class BulkOffer:
    """What a list shows above its rows once some are ticked: where they are sent, the acts, the filters in force."""

    url: str
    acts: Sequence[Any]
    query: str


_read_signature = library.signature


@cache
def _signature_of(function: Callable[..., Any]) -> tuple[tuple[str, ...], str | None]:
    names, catch_all = _read_signature(function)
    return names[1:], catch_all  # without `self`, which the library leaves out of a bound method's


def _signature(function: Callable[..., Any]) -> tuple[tuple[str, ...], str | None]:
    """The library's, which reads the signature of a column's method anew for each cell."""
    known: tuple[tuple[str, ...], str | None] = (
        _signature_of(function.__func__) if inspect.ismethod(function) else _read_signature(function)
    )
    return known


library.signature = _signature


class Table(django_tables2.Table):
    """Base of every list. Rows with a `data-href` open on a click; set `caption` for screen readers.

    `bulk`: acts on several rows, from `bulk.offered`; the rows then have boxes to tick.
    `export`: the name of the list in `billing.exports.lists`, where its rows may be had as a file. `sizes`: how many
    rows a page may have, for the reader to choose; set by `pages.paged`.
    """

    caption: str | Promise = ""
    export: str = ""
    sizes: tuple[int, ...] = ()
    ticking: Collection[str] = ()
    unread: Collection[str] = ()

    def __init__(self, *args: Any, bulk: BulkOffer | None = None, **kwargs: Any) -> None:
        self.bulk = bulk
        if bulk is not None:
            pick = Cell(template_name=PICK, verbose_name="", orderable=False, empty_values=(), attrs=column("pl-wide"))
            kwargs["extra_columns"] = [*kwargs.get("extra_columns", ()), ("pick", pick)]
            kwargs["sequence"] = ("pick", *(kwargs.get("sequence") or self._meta.sequence or ("...",)))
        super().__init__(*args, **kwargs)

    class Meta:
        template_name = "components/table.html"

    def kept_beside(self, record: Any) -> tuple[Any, ...] | None:
        """What the cells of this row show that is not in `record`; None: they are not to be kept (`apps.common.kept`).

        A row may be kept if its cells, but for those of the columns `ticking`, show no time that goes on and ask the
        database for nothing. What only those or `kept_beside` read of the record is named by `unread`.
        """
        return None

    def body(self) -> SafeString:
        """The rows of this page as HTML, empty without any. A template would take twice as long over the same cells."""
        opened = {column.name: f"<td {column.attrs['td'].as_html()}>" for column in self.columns}  # alike in all rows
        ticking = [name for name in opened if name in self.ticking]
        parts: list[str] = []
        for row in self.paginated_rows:
            parts.append(f"<tr {row.attrs.as_html()}>")
            beside = self.kept_beside(row.record)
            if beside is None:
                parts += [_cell(row, name, before) for name, before in opened.items()]
            else:
                known = (named(self), *opened.items(), *beside)
                first, *rest = kept(row.record, known, partial(_pieces, row, opened, ticking), without=self.unread)
                parts.append(first)
                for name, piece in zip(ticking, rest, strict=True):
                    parts += [_cell(row, name, opened[name]), piece]
            parts.append("</tr>")
        return mark_safe("".join(parts))  # noqa: S308  escaped piece by piece


def _cell(row: BoundRow, name: str, opened: str) -> str:
    return f"{opened}{conditional_escape(row.get_cell(name))}</td>"


def _pieces(row: BoundRow, opened: Mapping[str, str], ticking: Collection[str]) -> list[str]:
    """The cells of a row, in one piece more than it has cells that are `ticking`: those are left out."""
    pieces = [""]
    for name, before in opened.items():
        if name in ticking:
            pieces.append("")
        else:
            pieces[-1] += _cell(row, name, before)
    return pieces


def pager(page: Page[Any]) -> dict[str, Any]:
    """The context of components/pager.html."""
    return {"page": page, "paginator": page.paginator, "prefixed_page_field": "page"}
