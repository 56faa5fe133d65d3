"""Search a log for a literal text, as far as one answer may take: bounded in time, bytes, memory and hits.

Colours and other control sequences are looked through: what stands together on the screen is found. Every state of a
progress bar is searched, not only the last one. Hits never overlap and never span lines.
"""

import re
import time
import unicodedata
from bisect import bisect_right
from collections.abc import Callable
from dataclasses import dataclass, field

from apps.workloads.drivers.base import LogChunk

Read = Callable[[int, int], LogChunk]
"""At most so many bytes (second) from an offset (first)."""

MAX_NEEDLE = 256
MAX_HITS = 1000
MAX_BYTES = 256 * 1024 * 1024
BUDGET_S = 1.5
PIECE = 1024 * 1024

# Longer than any sequence below: what begins further from the end than this is decided.
_LOOK_AHEAD = 256
_SEQUENCE = re.compile(
    rb"\x1b\[[0-9;:?]{0,64}[@-~]"
    rb"|\x1b\][^\x07\x1b\n]{0,200}(?:\x07|\x1b\\)"
    rb"|\x1b[@-Z\\-_]"
    rb"|[\x00-\x08\x0b\x0c\x0e-\x1f\x7f]"
)
_CONTROLS = bytes(byte for byte in range(128) if byte < 32 or byte == 127).translate(None, b"\t\n\r")


def without_controls(text: str) -> str:
    """As people read it: without colours, moves of the cursor and other control characters."""
    return _SEQUENCE.sub(b"", text.encode(errors="replace")).decode()


@dataclass(frozen=True, slots=True)
class Hit:
    """Bytes `[offset, end)` of the log, the control sequences between them included."""

    offset: int
    end: int


@dataclass(frozen=True, slots=True)
class Found:
    """The hits, in order, that begin before `next_offset`; `complete`: nothing follows it, now or later."""

    hits: list[Hit]
    next_offset: int
    complete: bool


@dataclass(frozen=True, slots=True)
class Needle:
    """What is looked for. `folded`: the haystack's ASCII letters are made small first."""

    pattern: re.Pattern[bytes]
    folded: bool
    longest: int

    @classmethod
    def of(cls, text: str, *, match_case: bool) -> "Needle":
        """Raises ValueError for an empty text, one that is too long, and one that no line can have."""
        if not 0 < len(text) <= MAX_NEEDLE or any(unicodedata.category(c) in ("Cc", "Cs") and c != "\t" for c in text):
            raise ValueError("not a text that a line can have")
        forms = [[char] if match_case else _cases(char) for char in text]
        folded = not match_case and all(len(found) == 1 or found[0].isascii() for found in forms)
        if folded:
            forms = [[found[0].lower() if found[0].isascii() else found[0]] for found in forms]
        each = (b"|".join(re.escape(form.encode()) for form in found) for found in forms)
        pattern = re.compile(b"".join(b"(?:" + one + b")" if b"|" in one else one for one in each))
        return cls(pattern, folded, sum(max(len(form.encode()) for form in found) for found in forms))


def _cases(char: str) -> list[str]:
    """The character, and its other case where that is one character too."""
    return list(dict.fromkeys(form for form in (char, char.lower(), char.upper()) if len(form) == 1))


@dataclass(slots=True)
class _Text:
    """What is shown of some bytes of the log. `starts`: where a piece begins, in the text and in the log."""

    data: bytearray = field(default_factory=bytearray)
    starts: list[tuple[int, int]] = field(default_factory=list)

    def add(self, data: bytes, offset: int) -> None:
        if data:
            self.starts.append((len(self.data), offset))
            self.data += data

    def offset(self, place: int) -> int:
        """Of a byte of the text, in the log."""
        at, offset = self.starts[bisect_right(self.starts, (place, 1 << 63)) - 1]
        return offset + place - at

    def rest(self, place: int) -> "_Text":
        """From a place on."""
        kept = _Text()
        if place < len(self.data):
            first = bisect_right(self.starts, (place, 1 << 63)) - 1
            kept.starts = [(max(0, at - place), offset + max(0, place - at)) for at, offset in self.starts[first:]]
            kept.data = self.data[place:]
        return kept


class Scan:
    """One search, fed with the bytes of a log in order."""

    def __init__(self, needle: Needle, offset: int, most: int = MAX_HITS) -> None:
        """Stops after the hit that is one more than `most`."""
        self.needle = needle
        self._most = most
        self.hits: list[Hit] = []
        self._text = _Text()
        self._raw = b""
        self._at = offset  # of the first byte of `_raw`

    @property
    def undecided(self) -> int:
        """Where a hit that is not known yet may begin."""
        return self._text.offset(0) if self._text.data else self._at

    def feed(self, data: bytes) -> None:
        self._raw += data
        cut = self._show(len(self._raw) - _LOOK_AHEAD)
        self._raw, self._at = self._raw[cut:], self._at + cut
        self._find()

    def finish(self) -> None:
        """Decides the rest: nothing follows for now. `undecided` is where to go on once something does."""
        escape = self._raw.rfind(b"\x1b")
        begun = self._at + escape if escape >= 0 else self._at + len(self._raw)
        self._show(len(self._raw))
        self._at += len(self._raw)
        self._raw = b""
        self._find()
        last = self.hits[-1].end if self.hits else 0
        self._at = max(last, min(self.undecided, begun))
        self._text = _Text()

    def _show(self, upto: int) -> int:
        """Adds what is shown of `_raw`, at least `upto` bytes of it; how many it was."""
        if upto <= 0:
            return 0
        raw, shown = self._raw, 0
        if len(raw.translate(None, _CONTROLS)) < len(raw):
            for found in _SEQUENCE.finditer(raw):
                if found.start() >= upto:
                    break
                self._text.add(raw[shown : found.start()], self._at + shown)
                shown = found.end()
        if shown < upto:
            self._text.add(raw[shown:upto], self._at + shown)
        return max(shown, upto)

    def _find(self) -> None:
        text = self._text
        haystack = text.data.lower() if self.needle.folded else text.data
        past = 0
        for found in self.needle.pattern.finditer(haystack):
            if len(self.hits) > self._most:
                return
            past = found.end()
            self.hits.append(Hit(text.offset(found.start()), text.offset(past - 1) + 1))
        self._text = text.rest(max(past, len(text.data) - self.needle.longest + 1))


def search(
    read: Read,
    needle: Needle,
    *,
    offset: int = 0,
    most: int = MAX_HITS,
    piece: int = PIECE,
    clock: Callable[[], float] = time.monotonic,
) -> Found:
    """The hits from `offset` on, until there are `most`, the log ends, or the answer has taken its time."""
    scan, at, deadline = Scan(needle, offset, most), offset, clock() + BUDGET_S
    while at - offset < MAX_BYTES:
        chunk = read(at, piece)
        at = chunk.next_offset
        scan.feed(chunk.data)
        if not chunk.data or chunk.complete:
            scan.finish()
        if len(scan.hits) > most:
            return Found(scan.hits[:most], scan.hits[most].offset, complete=False)
        if not chunk.data or chunk.complete:
            return Found(scan.hits, at if chunk.complete else scan.undecided, chunk.complete)
        if clock() > deadline:
            break
    return Found(scan.hits, scan.undecided, complete=False)
