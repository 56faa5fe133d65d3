"""How the code of two runs differs: files that only one has, and changed lines, within limits of size, count and time.

Whoever compares runs sees them, and with them their code.
"""

import difflib
import os
import time
from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum
from itertools import islice
from pathlib import Path

from apps.common.errors import DomainError, Invalid, NotFound
from apps.storage.digests import digest_of
from apps.storage.safe_open import TooDeep, open_file_by_names, walk
from apps.storage.services import root_of
from apps.storage.texts import decode, read_all
from apps.training.models import Run

MOST_ENTRIES, MOST_FILES = 5000, 60
"""Entries of a tree that are looked at, and files whose difference is shown."""
MOST_BYTES, MOST_LINES = 256 << 10, 2000
"""Of a file that is compared line by line: what difflib needs may grow with the square of its lines."""
SHOWN_LINES, LONGEST_LINE, CONTEXT = 400, 300, 3
DEADLINE_S = 4.0
CHUNK = 1 << 20

Names = tuple[str, ...]


class FileState(StrEnum):
    ADDED = "added"
    REMOVED = "removed"
    CHANGED = "changed"
    BINARY = "binary"
    LARGE = "large"


class LineKind(StrEnum):
    PLACE = "at"
    REMOVED = "del"
    ADDED = "add"
    SAME = "same"


@dataclass(frozen=True, slots=True)
class Line:
    kind: LineKind
    text: str


@dataclass(frozen=True, slots=True)
class FileDiff:
    """`lines`: of a changed text alone; `left_out`: how many more there are."""

    path: str
    state: FileState
    lines: tuple[Line, ...] = ()
    added: int = 0
    removed: int = 0
    left_out: int = 0


@dataclass(frozen=True, slots=True)
class CodeDiff:
    """`complete`: False where a tree has too many files or the time was up. `missing`: a tree is gone."""

    files: tuple[FileDiff, ...] = ()
    same: int = 0
    complete: bool = True
    missing: bool = False

    @property
    def added(self) -> int:
        return sum(each.added for each in self.files)

    @property
    def removed(self) -> int:
        return sum(each.removed for each in self.files)


def code_diff(base: Run, other: Run) -> CodeDiff:
    """What `other` has changed. Both are runs that the actor sees."""
    if base.code_id == other.code_id:
        return CodeDiff()
    first, second = digest_of(base.code), digest_of(other.code)
    if first and second and first.sha256 and first.sha256 == second.sha256:
        return CodeDiff(same=first.files)
    return tree_diff(root_of(base.code), root_of(other.code))


def tree_diff(base: Path, other: Path) -> CodeDiff:
    end = time.monotonic() + DEADLINE_S
    try:
        (old, all_old), (new, all_new) = _files(base), _files(other)
    except (NotFound, FileNotFoundError):
        return CodeDiff(missing=True)
    found: list[FileDiff] = []
    same, complete = 0, all_old and all_new
    for names in sorted(old | new):
        if len(found) >= MOST_FILES or time.monotonic() > end:
            complete = False
            break
        if names not in new or names not in old:
            found.append(FileDiff(_path(names), FileState.ADDED if names in new else FileState.REMOVED))
        elif changed := _file_diff(base, other, names, end):
            found.append(changed)
        else:
            same += 1
    return CodeDiff(tuple(found), same, complete)


def _files(root: Path) -> tuple[set[Names], bool]:
    """Of regular files, the names that lead to them; whether these are all."""
    found: set[Names] = set()
    try:
        for count, entry in enumerate(walk(root)):
            if count >= MOST_ENTRIES:
                return found, False
            if entry.is_file:
                found.add((*entry.names, entry.name))
    except TooDeep:
        return found, False
    return found, True


def _file_diff(base: Path, other: Path, names: Names, end: float) -> FileDiff | None:
    """None for equal ones, and for what vanished meanwhile."""
    try:
        old, new = open_file_by_names(base, names), open_file_by_names(other, names)
    except (DomainError, OSError):
        return None
    try:
        sizes = [os.fstat(each).st_size for each in (old, new)]
        if max(sizes) > MOST_BYTES:
            alike = sizes[0] == sizes[1] and _equal(old, new, end)
            return None if alike else FileDiff(_path(names), FileState.LARGE)
        return _text_diff(_path(names), read_all(old, MOST_BYTES), read_all(new, MOST_BYTES))
    finally:
        os.close(old)
        os.close(new)


def _equal(old: int, new: int, end: float) -> bool:
    """Chunk by chunk; what the time does not suffice for counts as different."""
    while time.monotonic() <= end:
        first, second = read_all(old, CHUNK), read_all(new, CHUNK)
        if first != second:
            return False
        if not first:
            return True
    return False


def _text_diff(path: str, old: bytes, new: bytes) -> FileDiff | None:
    if old == new:
        return None
    try:
        before, after = (decode(data)[0].splitlines() for data in (old, new))
    except Invalid:
        return FileDiff(path, FileState.BINARY)
    if max(len(before), len(after)) > MOST_LINES:
        return FileDiff(path, FileState.LARGE)
    lines = list(_lines(before, after))
    added, removed = (sum(line.kind is kind for line in lines) for kind in (LineKind.ADDED, LineKind.REMOVED))
    shown = tuple(islice(lines, SHOWN_LINES))
    return FileDiff(path, FileState.CHANGED, shown, added, removed, len(lines) - len(shown))


def _lines(before: list[str], after: list[str]) -> Iterator[Line]:
    kinds = {"+": LineKind.ADDED, "-": LineKind.REMOVED, "@": LineKind.PLACE, " ": LineKind.SAME}
    unified = difflib.unified_diff(before, after, lineterm="", n=CONTEXT)
    for line in islice(unified, 2, None):  # after the names of the files
        kind = kinds[line[0]]
        text = line if kind is LineKind.PLACE else line[1:]
        yield Line(kind, text if len(text) <= LONGEST_LINE else f"{text[:LONGEST_LINE]}…")


def _path(names: Names) -> str:
    """As it can be written: names on a disk need not be UTF-8."""
    return "/".join(names).encode("utf-8", "replace").decode()
