"""Tables of any length as CSV, a page of rows at a time, so that memory stays flat."""

from collections.abc import AsyncIterator, Callable, Sequence
from typing import Any

from asgiref.sync import sync_to_async
from django.db.models import QuerySet
from django.utils.http import content_disposition_header

from apps.common.actor import Actor
from apps.common.permissions import Permission
from apps.common.scoping import acting
from apps.common.spreadsheets import BOM, csv_line
from apps.common.streams import Stream, while_holding

PAGE = 2000

Row = Sequence[object]


def csv_response(
    actor: Actor,
    *,
    permission: Permission,
    name: str,
    header: Row,
    rows: QuerySet[Any],
    render: Callable[[list[Any]], list[Row]],
) -> Stream:
    """Stream `rows` newest first, by their primary key, to whoever holds `permission`, for as long as they hold it.

    `render` turns a page of objects into lines of cells.
    """
    lines = _lines(actor, header, rows, render)
    response = Stream(lines, visible=while_holding(actor, permission), content_type="text/csv; charset=utf-8")
    response.headers["Content-Disposition"] = content_disposition_header(True, name) or "attachment"
    response.headers["Cache-Control"] = "private, no-store"
    return response


async def _lines(
    actor: Actor, header: Row, rows: QuerySet[Any], render: Callable[[list[Any]], list[Row]]
) -> AsyncIterator[str]:
    yield BOM + csv_line(header)
    last: int | None = None
    while True:
        page, last = await sync_to_async(_page)(actor, rows, last, render)
        if not page:
            return
        yield page


def _page(
    actor: Actor, rows: QuerySet[Any], last: int | None, render: Callable[[list[Any]], list[Row]]
) -> tuple[str, int | None]:
    """The next page as text, and its last key. Pages by key, because offsets shift while rows are added."""
    with acting(actor):  # the request's own scope has ended by the time that a stream is read
        ordered = rows.order_by("-pk")
        found = list((ordered if last is None else ordered.filter(pk__lt=last))[:PAGE])
        text = "".join(csv_line(line) for line in render(found)) if found else ""
    return text, found[-1].pk if found else last
