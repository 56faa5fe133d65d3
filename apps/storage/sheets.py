"""The beginning of a table in a text file (CSV, TSV, lines of JSON), as a table."""

import csv
import io
import os
from dataclasses import dataclass, field

from apps.storage import json_lines, texts
from apps.storage.column_types import ColumnType, of_cells
from apps.storage.roots import Root
from apps.storage.safe_open import open_file_by_names, split_path

ENDINGS = {"csv": ",;\t|", "tsv": "\t"}  # and what may separate their cells
JSON_LINES = frozenset({"jsonl", "ndjson"})
READ, ROWS, COLUMNS, CELL = 1 << 20, 200, 60, 200


@dataclass(frozen=True, slots=True)
class Sheet:
    """Rows of equal length. `more_rows`, `more_columns`: whether the file has others than these.

    `types`: what the columns hold, as far as these rows say.
    """

    head: list[str]
    rows: list[list[str]]
    encoding: str
    more_rows: bool = False
    more_columns: bool = False
    types: list[ColumnType] = field(default_factory=list)


def is_sheet(path: str) -> bool:
    return _ending(path) in ENDINGS.keys() | JSON_LINES


@dataclass(frozen=True, slots=True)
class Most:
    """How many rows and columns are kept of what is read."""

    rows: int = ROWS
    columns: int = COLUMNS


SHOWN = Most()


def read_sheet(root: Root, path: str, most: Most = SHOWN) -> Sheet | None:
    """The first rows of a file of any size; None for what is no table. Raises `NotFound`, and `Invalid` for no text."""
    descriptor = open_file_by_names(root.path, split_path(path))
    try:
        data = texts.read_all(descriptor, READ)
        is_whole = os.fstat(descriptor).st_size <= len(data)
    finally:
        os.close(descriptor)
    if not is_whole:  # a character or a row that was cut through says nothing
        data = data[: data.rfind(b"\n") + 1]
    text, encoding = texts.decode(data)
    if _ending(path) in JSON_LINES:
        return _of_json_lines(text, encoding, is_whole, most)
    return _of_cells(text, encoding, is_whole, ENDINGS[_ending(path)], most)


def _of_cells(text: str, encoding: str, is_whole: bool, separators: str, most: Most) -> Sheet | None:
    try:
        rows = _rows(text, separators, most)
    except csv.Error:
        return None
    if not rows or max(map(len, rows)) < 2:
        return None
    width = max(map(len, rows))
    whole = [[*row, *[""] * (width - len(row))][: most.columns] for row in rows[: most.rows + 1]]
    types = [of_cells(column) for column in zip(*whole[1:], strict=True)] or [ColumnType.EMPTY] * len(whole[0])
    shown = [[cell[:CELL] for cell in row] for row in whole]
    return Sheet(shown[0], shown[1:], encoding, not is_whole or len(rows) > most.rows + 1, width > most.columns, types)


def _of_json_lines(text: str, encoding: str, is_whole: bool, most: Most) -> Sheet | None:
    table = json_lines.read(text, most.rows + 1)
    if table is None or not table.head:
        return None
    rows = [[cell[:CELL] for cell in row[: most.columns]] for row in table.rows[: most.rows]]
    more_rows = not is_whole or len(table.rows) > most.rows
    head = [name[:CELL] for name in table.head[: most.columns]]
    return Sheet(head, rows, encoding, more_rows, len(table.head) > most.columns, table.types[: most.columns])


def _ending(path: str) -> str:
    return path.rpartition(".")[2].lower()


def _rows(text: str, separators: str, most: Most) -> list[list[str]]:
    """One more than are shown. Raises `csv.Error`."""
    separator = max(separators, key=text.partition("\n")[0].count)
    found: list[list[str]] = []
    for row in csv.reader(io.StringIO(text, newline=""), delimiter=separator):
        if row:
            found.append(row)
        if len(found) > most.rows + 1:
            break
    return found
