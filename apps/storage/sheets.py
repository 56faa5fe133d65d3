"""The beginning of a table in a text file (CSV, TSV), as a table."""

import csv
import io
import os
from dataclasses import dataclass

from apps.storage import texts
from apps.storage.roots import Root
from apps.storage.safe_open import open_file_by_names, split_path

ENDINGS = {"csv": ",;\t|", "tsv": "\t"}  # and what may separate their cells
READ, ROWS, COLUMNS, CELL = 1 << 20, 200, 60, 200


@dataclass(frozen=True, slots=True)
class Sheet:
    """Rows of equal length. `more_rows`, `more_columns`: whether the file has others than these."""

    head: list[str]
    rows: list[list[str]]
    encoding: str
    more_rows: bool = False
    more_columns: bool = False


def is_sheet(path: str) -> bool:
    return path.rpartition(".")[2].lower() in ENDINGS


def read_sheet(root: Root, path: str) -> Sheet | None:
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
    try:
        rows = _rows(text, ENDINGS[path.rpartition(".")[2].lower()])
    except csv.Error:
        return None
    if not rows or max(map(len, rows)) < 2:
        return None
    width = max(map(len, rows))
    shown = [[cell[:CELL] for cell in [*row, *[""] * (width - len(row))][:COLUMNS]] for row in rows[: ROWS + 1]]
    return Sheet(shown[0], shown[1:], encoding, not is_whole or len(rows) > ROWS + 1, width > COLUMNS)


def _rows(text: str, separators: str) -> list[list[str]]:
    """One more than are shown. Raises `csv.Error`."""
    separator = max(separators, key=text.partition("\n")[0].count)
    found: list[list[str]] = []
    for row in csv.reader(io.StringIO(text, newline=""), delimiter=separator):
        if row:
            found.append(row)
        if len(found) > ROWS + 1:
            break
    return found
