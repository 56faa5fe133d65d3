"""What a Parquet file says of itself at its end: columns with their types, and how many rows there are.

Apache Parquet format, "File Metadata". Values are not read: that takes Arrow, which is larger than the platform,
and codecs in the platform's own processes.
"""

import os
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from apps.storage import texts
from apps.storage.roots import Root
from apps.storage.safe_open import open_file_by_names, split_path
from apps.storage.thrift_compact import Malformed, Reader, Struct

MAGIC = b"PAR1"
MOST_FOOTER = 4 << 20
COLUMNS = 500
NAME = 200
SCHEMA, ROWS = 2, 3  # of FileMetaData
TYPE, LENGTH, REPETITION, TITLE, CHILDREN, CONVERTED, SCALE, PRECISION, LOGICAL = 1, 2, 3, 4, 5, 6, 7, 8, 10
REQUIRED, REPEATED = 0, 2
_PHYSICAL = ("bool", "int32", "int64", "timestamp", "float", "double", "binary", "fixed binary")
_CONVERTED = {0: "string", 1: "map", 3: "list", 4: "string", 6: "date", 7: "time", 8: "time", 9: "timestamp",
              10: "timestamp", 11: "uint8", 12: "uint16", 13: "uint32", 14: "uint64", 15: "int8", 16: "int16",
              17: "int32", 18: "int64", 19: "json", 20: "bson"}  # fmt: skip
_LOGICAL = {1: "string", 2: "map", 3: "list", 4: "string", 6: "date", 7: "time", 8: "timestamp", 11: "null",
            12: "json", 13: "bson", 14: "uuid", 15: "float16"}  # fmt: skip
_INTEGER, _DECIMAL, _CONVERTED_DECIMAL = 10, 5, 5


@dataclass(frozen=True, slots=True)
class Column:
    """`type` as Arrow calls it. `may_be_null`: it need not have a value in each row."""

    name: str
    type: str
    may_be_null: bool


@dataclass(frozen=True, slots=True)
class Summary:
    """`columns`: those at the top; `more_columns`: whether there are others than these."""

    columns: list[Column]
    rows: int
    more_columns: bool


def is_parquet(path: str) -> bool:
    return path.lower().endswith((".parquet", ".pq"))


def read_summary(root: Root, path: str) -> Summary | None:
    """None for what is no Parquet, or says too much of itself. Raises `NotFound`."""
    descriptor = open_file_by_names(root.path, split_path(path))
    try:
        footer = _footer(descriptor)
    finally:
        os.close(descriptor)
    if footer is None:
        return None
    try:
        about = Reader(footer, stop_after=ROWS).read()
        elements, rows = about[SCHEMA], about[ROWS]
        found = list(_columns(elements))
    except (Malformed, KeyError, IndexError, TypeError, AttributeError):
        return None
    return Summary(found[:COLUMNS], max(0, int(rows)), len(found) > COLUMNS)


def _footer(descriptor: int) -> bytes | None:
    size = os.fstat(descriptor).st_size
    if size < 12:
        return None
    os.lseek(descriptor, size - 8, os.SEEK_SET)
    tail = texts.read_all(descriptor, 8)
    length = int.from_bytes(tail[:4], "little")
    if tail[4:] != MAGIC or not 0 < length <= size - 12:
        return None
    os.lseek(descriptor, size - 8 - length, os.SEEK_SET)
    # Columns and rows come first; what follows is as long as there are parts of the file.
    return texts.read_all(descriptor, min(length, MOST_FOOTER))


def _columns(elements: list[Struct]) -> Iterator[Column]:
    """The tree is written depth first; the first element is its root."""
    at = 1
    for _number in range(elements[0].get(CHILDREN, 0)):
        element = elements[at]
        name = element[TITLE].decode("utf-8", "replace")[:NAME]
        yield Column(name, _type(element), element.get(REPETITION, REQUIRED) != REQUIRED)
        at = _after(elements, at)


def _after(elements: list[Struct], at: int) -> int:
    left = 1
    while left:
        left += elements[at].get(CHILDREN, 0) - 1
        at += 1
    return at


def _type(element: Struct) -> str:
    plain = _plain(element)
    return f"list<{plain}>" if element.get(REPETITION) == REPEATED else plain


def _plain(element: Struct) -> str:
    logical: dict[int, Any] = element.get(LOGICAL) or {}
    kind = next(iter(logical), None)
    if kind == _DECIMAL or (kind is None and element.get(CONVERTED) == _CONVERTED_DECIMAL):
        return f"decimal({element.get(PRECISION, 0)}, {element.get(SCALE, 0)})"
    if kind == _INTEGER:
        bits, is_signed = logical[kind].get(1, 0), logical[kind].get(2, True)
        return f"{'' if is_signed else 'u'}int{bits}"
    if kind in _LOGICAL:
        return _LOGICAL[kind]
    if element.get(CONVERTED) in _CONVERTED:
        return _CONVERTED[element[CONVERTED]]
    if element.get(CHILDREN):
        return "struct"
    name = _PHYSICAL[element[TYPE]]
    return f"{name}({element.get(LENGTH, 0)})" if name == _PHYSICAL[7] else name
