"""Files of metrics in a run's output: which they are, and reading what each has more than the last time.

A file is read through `OpenFile`, so that nothing here opens a path. The state of a file is plain data.
"""

import csv
import json
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from enum import StrEnum
from hashlib import blake2b
from typing import Any

from apps.tracking.collecting.reading.event_files import read_events
from apps.tracking.collecting.reading.numbers import to_float
from apps.tracking.collecting.reading.pairs import flat
from apps.tracking.collecting.reading.rows import history, points_of
from apps.tracking.points import Point

LONGEST_DOCUMENT = 8 * 1024 * 1024
"""Bytes of a JSON document, which is read as a whole."""
LONGEST_LINE = 64 * 1024
MOST_COLUMNS = 500
_PRINT = 128  # bytes before the position by which a file is known again


class Format(StrEnum):
    EVENTS = "events"
    LINES = "jsonl"
    CSV = "csv"
    DOCUMENT = "json"


_NAMES = (
    (Format.EVENTS, re.compile(r"events\.out\.tfevents\..+|.+\.tfevents(\..+)?")),
    (Format.LINES, re.compile(r"(metrics|history|log|train_log|training_log|progress|scalars)\.(jsonl|ndjson)")),
    (Format.CSV, re.compile(r"(metrics|results|history|log|training|training_log|progress)\.csv")),
    (Format.DOCUMENT, re.compile(r"(metrics|history|trainer_state|scalars|(train|eval|all|test)_results)\.json")),
)
# Folders that say how a tool keeps its files, and nothing of what is in them.
_PLAIN_FOLDER = re.compile(
    r"runs?|logs?|tb|tb_logs|tensorboard|tensorboard_logs|lightning_logs|csv_logs|version_\d+|events|checkpoints|checkpoint-\d+|"
    r"output|outputs|detect|segment|classify|[A-Z][a-z]{2}\d\d_\d\d-\d\d-\d\d_.+|\d{8}-\d{6}",
    re.IGNORECASE,
)


def format_of(name: str) -> Format | None:
    """Of a file of metrics, by its name; None for any other file."""
    return next((kind for kind, pattern in _NAMES if pattern.fullmatch(name)), None)


def prefix_of(folders: Sequence[str]) -> str:
    """What the folders of a file add to the names in it, such as `validation/`."""
    kept = [name for name in folders if not _PLAIN_FOLDER.fullmatch(name)]
    return "".join(f"{name}/" for name in kept)


@dataclass(frozen=True, slots=True)
class OpenFile:
    """`read(offset, count)` gives bytes; `changed`: its modification time in Unix seconds."""

    read: Callable[[int, int], bytes]
    size: int
    changed: float
    prefix: str = ""


@dataclass(slots=True)
class FileState:
    """How far a file was read: its bytes up to `offset`, or, of one that is written anew each time, its first `rows`.

    `print`: what stood before the offset; `shorter_since`: when it was found shorter, as while it is written anew.
    """

    offset: int = 0
    rows: int = 0
    print: str = ""
    header: list[str] | None = None
    changed: float = 0.0
    size: int = 0
    shorter_since: float | None = None
    damaged: bool = False

    def as_json(self) -> dict[str, Any]:
        return asdict(self)

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> "FileState":
        return cls(**data)

    def is_current(self, file: OpenFile) -> bool:
        """Whether there is nothing to read."""
        return self.size == file.size and self.changed == file.changed and self.offset >= file.size


def read_file(kind: Format, file: OpenFile, state: FileState, *, most_bytes: int, ended: bool) -> list[Point]:
    """What it has more; `state` goes on. `ended`: nobody writes to it any more."""
    if state.damaged or state.is_current(file):
        return []
    if kind is Format.EVENTS:
        found = read_events(
            file.read, state.offset, file.size, prefix=file.prefix, most_bytes=most_bytes, at=file.changed
        )
        state.offset, state.damaged = found.offset, found.is_damaged
        points = found.points
    elif kind is Format.DOCUMENT:
        points = _document(file, state)
    else:
        points = _by_line(kind, file, state, most_bytes=most_bytes, ended=ended)
    state.changed, state.size = file.changed, file.size
    return points


def _document(file: OpenFile, state: FileState) -> list[Point]:
    """A document is written as a whole: rows that it had are known, one that changed is a new one."""
    if file.size > LONGEST_DOCUMENT:
        state.damaged = True
        return []
    try:
        rows = history(json.loads(file.read(0, file.size)))
    except (ValueError, RecursionError):
        return []  # half of it is written
    state.offset = file.size
    marks = [_mark(json.dumps(row, sort_keys=True, default=str).encode()) for row in rows]
    is_longer = len(rows) >= state.rows and (not state.rows or marks[state.rows - 1] == state.print)
    first = state.rows if is_longer else max(0, len(rows) - 1) if len(rows) == state.rows else 0
    state.rows, state.print = len(rows), marks[-1] if marks else ""
    return [point for row in rows[first:] for point in points_of(flat(row), prefix=file.prefix, at=file.changed)]


def _by_line(kind: Format, file: OpenFile, state: FileState, *, most_bytes: int, ended: bool) -> list[Point]:
    """Lines that were added. One that was written anew is read from its start, without as many rows as are known."""
    skipped = 0
    if not _goes_on(file, state):
        if not ended and state.shorter_since != file.changed:
            state.shorter_since = file.changed  # perhaps half of it is written: the next turn knows
            return []
        skipped, state.offset, state.header = state.rows, 0, None
    state.shorter_since = None
    data = file.read(state.offset, most_bytes)
    whole = len(data) if ended and state.offset + len(data) >= file.size else data.rfind(b"\n") + 1
    if whole == 0 and len(data) >= LONGEST_LINE:
        whole = len(data)
    rows = list(_rows(kind, data[:whole], state))
    if skipped > len(rows):
        skipped = 0  # another, shorter story
    state.rows = max(skipped, 0) + len(rows[skipped:]) if skipped else state.rows * (state.offset > 0) + len(rows)
    state.offset += whole
    state.print = _print(file, state.offset)
    return [point for row in rows[skipped:] for point in points_of(row, prefix=file.prefix, at=file.changed)]


def _rows(kind: Format, data: bytes, state: FileState) -> list[dict[str, float]]:
    lines = [line for line in data.decode("utf-8", "replace").splitlines() if 0 < len(line) <= LONGEST_LINE]
    if kind is Format.LINES:
        return [row for line in lines if (row := _object(line))]
    found = []
    for cells in _cells(lines):
        if state.header is None:
            state.header = [cell.strip().lstrip("\ufeff") for cell in cells][:MOST_COLUMNS]
        elif row := _numbers(state.header, cells):
            found.append(row)
    return found


def _cells(lines: list[str]) -> list[list[str]]:
    try:
        return list(csv.reader(lines))
    except csv.Error:
        return []


def _numbers(header: list[str], cells: list[str]) -> dict[str, float]:
    pairs = ((name, to_float(cell)) for name, cell in zip(header, cells, strict=False) if name)
    return {name: value for name, value in pairs if value is not None}


def _object(line: str) -> dict[str, float]:
    try:
        row = json.loads(line)
    except (ValueError, RecursionError):
        return {}
    if isinstance(row, dict) and isinstance(row.get("name"), str) and isinstance(row.get("value"), int | float):
        row = {**{key: value for key, value in row.items() if key not in ("name", "value")}, row["name"]: row["value"]}
    return flat(row)


def _goes_on(file: OpenFile, state: FileState) -> bool:
    return state.offset == 0 or (file.size >= state.offset and _print(file, state.offset) == state.print)


def _print(file: OpenFile, offset: int) -> str:
    start = max(0, offset - _PRINT)
    return _mark(file.read(start, offset - start))


def _mark(data: bytes) -> str:
    return blake2b(data, digest_size=12).hexdigest()
