"""Bulk inserts by COPY, for rows of plain values whose ids are not needed afterwards."""

from collections.abc import Iterable, Mapping
from io import StringIO
from itertools import chain

from django.db import connection


def copy_rows(table: str, rows: Iterable[Mapping[str, object]]) -> None:
    """Insert the rows, all with the same columns; constraints and triggers see each as usual.

    Values are numbers, times, uuids and words without tabs, line ends or backslashes.
    """
    rest = iter(rows)
    first = next(rest, None)
    if first is None:
        return
    text = StringIO("".join(map(_line, chain([first], rest))))
    quote = connection.ops.quote_name
    columns = ", ".join(quote(column) for column in first)
    with connection.cursor() as cursor, connection.wrap_database_errors:
        cursor.copy_expert(f"COPY {quote(table)} ({columns}) FROM STDIN", text)


def _line(row: Mapping[str, object]) -> str:
    return "\t".join("\\N" if value is None else str(value) for value in row.values()) + "\n"
