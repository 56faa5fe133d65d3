"""What the head of a table says of its columns, before anything is started. Never more than a mebibyte is read."""

import statistics
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _

from apps.common.actor import Actor
from apps.common.errors import DomainError, Invalid
from apps.storage import parquet, sheets
from apps.storage.choices import RootKind
from apps.storage.column_types import ColumnType, of_cells
from apps.storage.models import DatasetVersion, EntryKind, ManifestEntry
from apps.storage.roots import Root, resolve
from apps.tabular.choices import Task, Warned

ENDINGS = (".csv", ".tsv", ".parquet", ".pq")
MOST_FILES, SHOWN_ROWS = 200, 5
MOST = sheets.Most(rows=5000, columns=500)
FEW_VALUES, LEAST_FOR_ID = 20, 30
NUMBERS = frozenset({ColumnType.INTEGER, ColumnType.NUMBER})
NO_VALUES = frozenset({"", "na", "n/a", "nan", "null", "none", "<na>", "#n/a"})
"""What pandas reads as missing, in small letters."""
NUMERIC_ARROW = ("int", "uint", "float", "double", "decimal")


@dataclass(frozen=True, slots=True)
class Column:
    """`missing`: the share; `distinct`: different values. Both of the rows that were read, None where none were."""

    name: str
    type: str | Promise
    is_number: bool
    missing: float | None = None
    distinct: int | None = None
    examples: tuple[str, ...] = ()
    warnings: tuple[Warned, ...] = ()


@dataclass(frozen=True, slots=True)
class Preview:
    """`rows`: in all, where it is known. `is_whole`: all of them were read, so that what they lack, the file lacks."""

    columns: tuple[Column, ...]
    size: int
    rows: int | None
    rows_read: int
    is_whole: bool
    cells: tuple[tuple[str, ...], ...] = ()

    def column(self, name: str) -> Column | None:
        return next((each for each in self.columns if each.name == name), None)

    def cells_of(self, name: str) -> list[str]:
        place = next((at for at, each in enumerate(self.columns) if each.name == name), None)
        return [] if place is None else [row[place] for row in self.cells]

    @property
    def shown(self) -> tuple[tuple[str, ...], ...]:
        return self.cells[:SHOWN_ROWS]


def table_files(version: DatasetVersion) -> list[ManifestEntry]:
    """Files of the version that a search reads, by path."""
    rows = ManifestEntry.objects.filter(manifest_id=version.manifest_id, kind=EntryKind.FILE)
    return list(rows.filter(path__iregex=r"\.(csv|tsv|parquet|pq)$").order_by("path")[:MOST_FILES])


def read(actor: Actor, version: DatasetVersion, path: str) -> Preview:
    """Raises `Invalid` beside `file`."""
    entry = ManifestEntry.objects.filter(manifest_id=version.manifest_id, path=path, kind=EntryKind.FILE).first()
    if entry is None or not path.lower().endswith(ENDINGS):
        raise Invalid.field("file", _("Choose a CSV, TSV or Parquet file of the version."))
    root = resolve(actor, RootKind.VERSION, version.pk)
    found = _parquet(root, entry) if parquet.is_parquet(path) else _sheet(root, entry)
    if len({each.name for each in found.columns}) < len(found.columns) or not all(each.name for each in found.columns):
        raise Invalid.field("file", _("The first row has to name the columns, each with a name of its own."))
    return found


def _sheet(root: Root, entry: ManifestEntry) -> Preview:
    try:
        sheet = sheets.read_sheet(root, entry.path, MOST)
    except DomainError as error:
        raise Invalid.field("file", _("This file holds no text that could be read as a table.")) from error
    if sheet is None:
        raise Invalid.field("file", _("This is no table of two columns or more."))
    if sheet.more_columns:
        raise Invalid.field("file", _("A table may have %(most)s columns.") % {"most": MOST.columns})
    columns = tuple(_column(name, [row[at] for row in sheet.rows]) for at, name in enumerate(_stripped(sheet.head)))
    rows = None if sheet.more_rows else len(sheet.rows)
    cells = tuple(tuple(row) for row in sheet.rows)
    return Preview(columns, entry.size, rows, len(cells), rows is not None, cells)


def _stripped(head: Sequence[str]) -> list[str]:
    """As the program's reader names them."""
    return [name.strip() for name in head]


def _parquet(root: Root, entry: ManifestEntry) -> Preview:
    summary = parquet.read_summary(root, entry.path)
    if summary is None:
        raise Invalid.field("file", _("This is no Parquet file that could be read."))
    columns = tuple(Column(each.name, each.type, each.type.startswith(NUMERIC_ARROW)) for each in summary.columns)
    return Preview(columns, entry.size, summary.rows, 0, False)


def known(cells: Sequence[str]) -> list[str]:
    return [cell for each in cells if (cell := each.strip()).lower() not in NO_VALUES]


def _column(name: str, cells: Sequence[str]) -> Column:
    values = known(cells)
    kind, different = of_cells(values), list(dict.fromkeys(values))
    missing = 1 - len(values) / len(cells) if cells else None
    warned = _warnings(values, different, kind, missing or 0.0)
    return Column(name, kind.words, kind in NUMBERS, missing, len(different), tuple(different[:3]), tuple(warned))


def _warnings(values: Sequence[str], different: Sequence[str], kind: ColumnType, missing: float) -> list[Warned]:
    if not values:
        return [Warned.EMPTY]
    found = []
    if len(different) == 1 and missing == 0:
        found.append(Warned.CONSTANT)
    if len(values) >= LEAST_FOR_ID and _is_id(values, different, kind):
        found.append(Warned.ID_LIKE)
    if missing > 0.5:
        found.append(Warned.MISSING)
    if kind is ColumnType.TEXT and 0 < sum(of_cells([each]) in NUMBERS for each in different) < len(different):
        found.append(Warned.MIXED)
    return found


def _is_id(values: Sequence[str], different: Sequence[str], kind: ColumnType) -> bool:
    """Texts that never come twice, or whole numbers that count the rows."""
    if len(different) < len(values):
        return False
    if kind is ColumnType.INTEGER:
        return all(int(after) - int(before) == 1 for before, after in pairwise(values))
    return kind is ColumnType.TEXT


def guessed_task(preview: Preview, target: str) -> Task:
    """Numbers with many values are measured, whatever else is told apart."""
    column = preview.column(target)
    if column is None or not column.is_number:
        return Task.CLASSIFICATION
    if column.distinct is None:
        return Task.REGRESSION
    is_whole = of_cells(known(preview.cells_of(target))) is ColumnType.INTEGER
    few = column.distinct <= FEW_VALUES and column.distinct * 5 <= preview.rows_read
    return Task.CLASSIFICATION if is_whole and few else Task.REGRESSION


def likely_target(preview: Preview) -> str:
    """A column of a name that targets have, else the last."""
    names = {each.name.lower(): each.name for each in preview.columns}
    usual = ("target", "label", "class", "y", "outcome")
    return next((names[name] for name in usual if name in names), preview.columns[-1].name)


def leaky_columns(preview: Preview, target: str) -> list[str]:
    """Columns of which each value stands for one value of the target, and the other way round."""
    goal = preview.cells_of(target)
    column = preview.column(target)
    if column is None or not goal or (column.distinct or 0) < 2:
        return []
    return [
        each.name
        for each in preview.columns
        if each.name != target and _gives_away(preview.cells_of(each.name), goal, each.is_number and column.is_number)
    ]


def _gives_away(cells: Sequence[str], goal: Sequence[str], numbers: bool) -> bool:
    pairs = {(cell, said) for cell, said in zip(cells, goal, strict=True) if known([cell]) and known([said])}
    ones, others = {one for one, _other in pairs}, {other for _one, other in pairs}
    if len(pairs) < 2:
        return False
    if len(ones) == len(others) == len(pairs) and 2 * len(pairs) < len(cells):
        return True
    return numbers and _is_line(pairs)


def _is_line(pairs: set[tuple[str, str]]) -> bool:
    if len(pairs) < 3:
        return False
    try:
        found = statistics.correlation([float(one) for one, _o in pairs], [float(other) for _o, other in pairs])
    except (ValueError, OverflowError, statistics.StatisticsError):
        return False
    return abs(found) > 0.99999
