"""Files written row by row, so that memory stays flat: CSV for everything, XLSX with numbers that are numbers."""

from collections.abc import Sequence
from datetime import date, datetime
from decimal import Decimal
from pathlib import Path
from typing import Any, Protocol

import xlsxwriter
from django.utils.translation import gettext as _

from apps.billing.days import BILLING_ZONE
from apps.billing.export_choices import ExportFormat
from apps.billing.exports.columns import CellFormat, Column
from apps.common.spreadsheets import BOM, Cell, csv_line

# What one sheet of an XLSX file holds, its header included.
SHEET_ROWS = 1_048_576
SHEET_NAME_MAX = 31
NOT_IN_SHEET_NAMES = str.maketrans(dict.fromkeys("[]:*?/\\", " "))
# Texts longer than a cell may be are cut.
TEXT_MAX = 32_767
FORMATS = {
    CellFormat.TEXT: "@",
    CellFormat.WHOLE: "0",
    CellFormat.YUAN: "#,##0.00",
    CellFormat.EXACT: "#,##0.00##########",
    CellFormat.DAY: "yyyy-mm-dd",
    CellFormat.MOMENT: "yyyy-mm-dd hh:mm:ss",
}
MEDIA_TYPES = {
    ExportFormat.CSV: "text/csv; charset=utf-8",
    ExportFormat.XLSX: "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
}


class Writer(Protocol):
    def row(self, cells: Sequence[Cell]) -> None: ...

    def close(self, last: Sequence[Cell] | None) -> None:
        """Write the last row, which states the sums, where there is one, and finish the file."""


class Sums:
    """The sums of the columns that add, kept exactly while the rows go by."""

    def __init__(self, columns: Sequence[Column]) -> None:
        self.columns = columns
        self.places = [place for place, column in enumerate(columns) if column.adds]
        self.totals = dict.fromkeys(self.places, Decimal(0))

    def add(self, cells: Sequence[Cell]) -> None:
        for place in self.places:
            value = cells[place]
            if isinstance(value, int | Decimal):
                self.totals[place] += value

    def row(self) -> list[Cell]:
        found: list[Cell] = [None] * len(self.columns)
        found[0] = _("Total")
        for place, total in self.totals.items():
            found[place] = total.quantize(Decimal("0.01")) if self.columns[place].look is CellFormat.YUAN else total
        return found

    def amount_fen(self) -> int | None:
        """The sum of the first column of whole fen."""
        yuan = [place for place in self.places if self.columns[place].look is CellFormat.YUAN]
        return int(self.totals[yuan[0]] * 100) if yuan else None


class CsvWriter:
    """UTF-8 with a mark; times in the billing zone."""

    def __init__(self, path: Path, columns: Sequence[Column]) -> None:
        self.file = path.open("w", encoding="utf-8", newline="")
        self.file.write(BOM + csv_line([str(column.label) for column in columns]))

    def row(self, cells: Sequence[Cell]) -> None:
        self.file.write(csv_line(cells))

    def close(self, last: Sequence[Cell] | None) -> None:
        if last is not None:
            self.row(last)
        self.file.close()


class XlsxWriter:
    """Rows go to disk as they come. A sheet that is full is followed by another one."""

    def __init__(self, path: Path, columns: Sequence[Column], *, title: str = "", sheet_rows: int = SHEET_ROWS) -> None:
        self.columns, self.title, self.sheet_rows = columns, title, sheet_rows
        options = {"constant_memory": True, "strings_to_formulas": False, "strings_to_urls": False}
        self.book = xlsxwriter.Workbook(str(path), options)
        self.head = self.book.add_format({"bold": True, "bottom": 1})
        self.looks = {look: self.book.add_format({"num_format": code}) for look, code in FORMATS.items()}
        self.strong = {look: self.book.add_format({"num_format": code, "bold": True}) for look, code in FORMATS.items()}
        self.sheets = 0
        self._sheet()

    def row(self, cells: Sequence[Cell]) -> None:
        self._write(cells, self.looks)

    def close(self, last: Sequence[Cell] | None) -> None:
        if last is not None:
            self._filtered()
            self._write(last, self.strong)
        else:
            self._filtered()
        self.book.close()

    def _sheet(self) -> None:
        self.sheets += 1
        self.sheet: Any = self.book.add_worksheet(sheet_name(self.title, self.sheets))
        self.sheet.freeze_panes(1, 0)
        for place, column in enumerate(self.columns):
            self.sheet.set_column(place, place, column.width)
            self.sheet.write_string(0, place, str(column.label), self.head)
        self.next = 1

    def _filtered(self) -> None:
        """Columns can be sorted and filtered; the row of the sums stays where it is."""
        self.sheet.autofilter(0, 0, self.next - 1, len(self.columns) - 1)

    def _write(self, cells: Sequence[Cell], looks: dict[CellFormat, Any]) -> None:
        if self.next >= self.sheet_rows:
            self._filtered()
            self._sheet()
        for place, value in enumerate(cells):
            self._cell(place, value, looks[self.columns[place].look])
        self.next += 1

    def _cell(self, place: int, value: Cell, look: Any) -> None:
        if value is None:
            return
        if isinstance(value, int | Decimal):
            self.sheet.write_number(self.next, place, value, look)
        elif isinstance(value, datetime):
            self.sheet.write_datetime(self.next, place, value.astimezone(BILLING_ZONE).replace(tzinfo=None), look)
        elif isinstance(value, date):
            self.sheet.write_datetime(self.next, place, value, look)
        else:
            self.sheet.write_string(self.next, place, value[:TEXT_MAX], look)


def sheet_name(title: str, number: int) -> str:
    """What spreadsheets take: at most 31 letters, none of `[]:*?/\\`. The first sheet carries no number."""
    mark = f" {number}" if number > 1 else ""
    plain = title.translate(NOT_IN_SHEET_NAMES).strip("' ") or _("Rows")
    return plain[: SHEET_NAME_MAX - len(mark)] + mark


def writer_of(format: ExportFormat, path: Path, columns: Sequence[Column], title: str) -> Writer:
    return XlsxWriter(path, columns, title=title) if format is ExportFormat.XLSX else CsvWriter(path, columns)
