"""Reading pieces of files within a budget of bytes and steps."""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from apps.modelhub.recognising.found import Malformed

HEAD, PIECE = 64 << 10, 4 << 10
MOST_BYTES = 32 << 20
MOST_STEPS = 200_000
MOST_JSON = 4 << 20


@dataclass(frozen=True, slots=True)
class Entry:
    """A file below the folder, by its path with "/" between names; size in bytes."""

    path: str
    size: int

    @property
    def name(self) -> str:
        return self.path.rpartition("/")[2].lower()


class Files(Protocol):
    """A folder. `entries` may be cut off where there are very many."""

    @property
    def entries(self) -> Sequence[Entry]: ...

    def read(self, path: str, offset: int, count: int) -> bytes:
        """Up to `count` bytes from `offset`; fewer at the end, none beyond it or where the file is gone."""


class Budget:
    """What recognising one folder may cost, all its files together; raises `Malformed` when it is used up."""

    def __init__(self) -> None:
        self._bytes, self._steps = MOST_BYTES, MOST_STEPS

    def take(self, count: int) -> None:
        self._bytes -= count
        if self._bytes < 0:
            raise Malformed("too many bytes")

    def step(self) -> None:
        self._steps -= 1
        if self._steps < 0:
            raise Malformed("too many steps")


class FileView:
    """One file at any offset, read in pieces of which the last is remembered."""

    def __init__(self, files: Files, entry: Entry, budget: Budget) -> None:
        self._files, self.entry, self.budget = files, entry, budget
        self._start, self._piece = 0, b""

    @property
    def size(self) -> int:
        return self.entry.size

    def at(self, offset: int, count: int) -> bytes:
        """Exactly so many bytes; `Malformed` where the file ends before."""
        if offset < 0 or count < 0 or offset + count > self.size:
            raise Malformed("beyond the end")
        within = offset - self._start
        if within < 0 or within + count > len(self._piece):
            self._load(offset, max(count, min(PIECE, self.size - offset)))
            within = 0
        found = self._piece[within : within + count]
        if len(found) < count:
            raise Malformed("it became shorter")
        return found

    def head(self, count: int = HEAD) -> bytes:
        """The first bytes, fewer where there are fewer."""
        return self.at(0, min(count, self.size))

    def json(self, offset: int, count: int) -> Any:
        if count > MOST_JSON:
            raise Malformed("more JSON than is read")
        return parsed(self.at(offset, count))

    def _load(self, offset: int, count: int) -> None:
        self.budget.take(count)
        self._start, self._piece = offset, self._files.read(self.entry.path, offset, count)


def parsed(text: bytes) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError) as error:
        raise Malformed("no JSON") from error


def mapping(value: Any) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise Malformed("no JSON object")
    return value
