"""The table, its target, and the rows that no trial sees."""

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from sklearn.model_selection import GroupShuffleSplit, train_test_split

from .problems import Problem
from .settings import CLASSIFICATION, Settings

LEAST_ROWS = 20
MOST_CLASSES = 200
ENCODINGS = ("utf-8-sig", "gb18030")


@dataclass(frozen=True)
class Table:
    """`x` with all columns but the target; `y` whole numbers of `classes`, or the numbers themselves.

    `groups`: of each row, where rows are kept together. `notes`: what was done to rows, as codes.
    """

    x: pd.DataFrame
    y: np.ndarray
    classes: list[str]
    groups: np.ndarray | None
    notes: list[dict[str, Any]]

    def rows(self, places: Any) -> "Table":
        groups = None if self.groups is None else self.groups[places]
        return Table(self.x.iloc[places], self.y[places], self.classes, groups, self.notes)


def read(settings: Settings) -> Table:
    """Raises `Problem`."""
    frame = _frame(Path(settings.file))
    frame.columns = [str(name).strip() for name in frame.columns]
    for name in filter(None, (settings.target, settings.group, settings.time)):
        if name not in frame.columns:
            raise Problem("no_column", f"The table has no column {name}.", column=name)
    notes: list[dict[str, Any]] = []
    known = frame[settings.target].notna()
    if not known.all():
        notes.append({"code": "target_missing", "rows": int((~known).sum())})
        frame = frame[known]
    _require_rows(frame)
    if settings.time:
        frame = _in_order(frame, settings.time)
    y, classes, kept = _target(frame[settings.target], settings, notes)
    frame = frame[kept].reset_index(drop=True)
    _require_rows(frame)
    groups = pd.factorize(frame[settings.group])[0] if settings.group else None
    if groups is not None and len(set(groups.tolist())) < max(3, settings.folds + 1):
        raise Problem("few_groups", f"The column {settings.group} has too few groups.", column=settings.group)
    return Table(frame.drop(columns=[settings.target]), y, classes, groups, notes)


def _require_rows(frame: pd.DataFrame) -> None:
    if len(frame) < LEAST_ROWS:
        raise Problem("few_rows", f"{len(frame)} rows have a target; {LEAST_ROWS} are needed.", rows=len(frame))


def _frame(path: Path) -> pd.DataFrame:
    try:
        if path.suffix.lower() in (".parquet", ".pq"):
            return pd.read_parquet(path)
        return _texts(path)
    except (ValueError, OSError, pd.errors.ParserError, pd.errors.EmptyDataError) as error:
        raise Problem("unreadable", f"The file cannot be read as a table: {error}", said=str(error)[:300]) from error


def _texts(path: Path) -> pd.DataFrame:
    separators = "\t" if path.suffix.lower() == ".tsv" else ",;\t|"
    for place, encoding in enumerate(ENCODINGS):
        try:
            with path.open(encoding=encoding) as file:
                head = file.readline()
            separator = max(separators, key=head.count)
            return pd.read_csv(path, sep=separator, encoding=encoding, skipinitialspace=True, low_memory=False)
        except UnicodeDecodeError:
            if place == len(ENCODINGS) - 1:
                raise
    raise AssertionError


def _in_order(frame: pd.DataFrame, name: str) -> pd.DataFrame:
    column = frame[name]
    numbers = pd.api.types.is_numeric_dtype(column)
    order = column if numbers else pd.to_datetime(column, errors="coerce", utc=True, format="mixed")
    if order.isna().any():
        raise Problem("bad_time", f"The column {name} is not a time in each row.", column=name)
    return frame.iloc[np.argsort(order.to_numpy(), kind="stable")]


def _target(column: pd.Series, settings: Settings, notes: list[dict[str, Any]]) -> tuple[np.ndarray, list[str], Any]:
    """Values, classes, and which rows have them."""
    if settings.task != CLASSIFICATION:
        numbers = pd.to_numeric(column, errors="coerce").astype("float64")
        kept = np.isfinite(numbers.to_numpy())
        if not kept.all():
            notes.append({"code": "target_no_number", "rows": int((~kept).sum())})
        if kept.mean() < 0.5:
            raise Problem("no_numbers", f"The target {settings.target} is no number.", column=settings.target)
        values = numbers.to_numpy()[kept]
        if len(values) and np.ptp(values) == 0:
            raise Problem("one_value", "The target has the same value in each row.", column=settings.target)
        return values, [], kept
    return _classes(column, settings, notes)


def _classes(column: pd.Series, settings: Settings, notes: list[dict[str, Any]]) -> tuple[np.ndarray, list[str], Any]:
    words = column.map(_class_word)
    counts = words.value_counts()
    least = max(2, settings.folds) + 2
    common = counts[counts >= least].index
    if len(common) < len(counts):
        notes.append({"code": "rare_classes", "classes": len(counts) - len(common), "least": least})
    if len(common) < 2:
        raise Problem("one_class", f"Fewer than two classes have {least} rows.", column=settings.target, least=least)
    if len(common) > MOST_CLASSES:
        raise Problem("many_classes", f"The target has {len(common)} classes.", classes=len(common), most=MOST_CLASSES)
    kept = words.isin(common).to_numpy()
    classes = sorted(str(each) for each in common)
    place = {name: number for number, name in enumerate(classes)}
    return words[kept].map(place).to_numpy().astype("int64"), classes, kept


def _class_word(value: Any) -> str:
    return str(int(value)) if isinstance(value, (float, np.floating)) and float(value).is_integer() else str(value)


def split(table: Table, settings: Settings, share: float, seed: int) -> tuple[Any, Any]:
    """Places of the rows to learn from, and of those to judge by: the last ones in time, other groups, or any."""
    places = np.arange(len(table.y))
    if settings.time:
        cut = max(1, round(len(places) * (1 - share)))
        return places[:cut], places[cut:]
    if table.groups is not None:
        parts = GroupShuffleSplit(n_splits=1, test_size=share, random_state=seed)
        return _first(parts.split(places, groups=table.groups))
    stratify = table.y if table.classes else None
    try:
        learn, judge = train_test_split(places, test_size=share, random_state=seed, stratify=stratify)
    except ValueError:  # fewer rows to judge by than classes
        learn, judge = train_test_split(places, test_size=share, random_state=seed)
    return np.sort(learn), np.sort(judge)


def _first(parts: Iterable[tuple[Any, Any]]) -> tuple[Any, Any]:
    return next(iter(parts))
