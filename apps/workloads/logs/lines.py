"""A log as lines with their offsets and times: from a byte on, before a byte, or the last ones."""

from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime

from apps.workloads.drivers.base import LogChunk, LogTime
from apps.workloads.logs.search import Read

LONGEST = 64 * 1024
"""Bytes. A longer line comes in parts, each as a line."""
CHARACTER = 4  # bytes of UTF-8, at most
PIECE = 256 * 1024
MAX_TAIL_BYTES = 8 * 1024 * 1024
LAST_BYTE = 2**62


@dataclass(frozen=True, slots=True)
class Line:
    """Bytes `[offset, end)`, its line feed included. `text`: without it; what is no UTF-8 is replaced. `at`: when it
    was stored, if that is known."""

    offset: int
    end: int
    at: datetime | None
    text: str


@dataclass(frozen=True, slots=True)
class Lines:
    """Bytes `[offset, next_offset)` as lines. `complete`: the log has ended there. `size`: of the log so far."""

    offset: int
    next_offset: int
    size: int
    complete: bool
    lines: list[Line]


def size_of(read: Read) -> int:
    """Bytes of a log so far."""
    size = read(0, 1).size
    return _found_size(read) if size is None else size


def _found_size(read: Read) -> int:
    """For a machine whose agent does not say: some forty questions."""
    low, high = 0, 1  # the byte before `low` is there, that at `high` is not
    while high < LAST_BYTE and read(high, 1).data:
        low, high = high + 1, high * 2
    while low < high:
        middle = (low + high) // 2
        if read(middle, 1).data:
            low = middle + 1
        else:
            high = middle
    return low


def line_start(read: Read, offset: int) -> int:
    """Where the line with this byte begins; the byte itself in a line that is longer than one may be."""
    start = max(0, offset - LONGEST + CHARACTER)  # a part may be that much shorter, and its end is no line's start
    before = _exactly(read, start, offset).data
    feed = before.rfind(b"\n")
    return start + feed + 1 if feed >= 0 or start == 0 else offset


def lines_from(read: Read, offset: int, limit: int) -> Lines:
    """Whole lines of at most `limit` bytes, the first with the byte at `offset`; of one that still grows, nothing.

    `limit` is not below `LONGEST`.
    """
    size = size_of(read)
    start = line_start(read, min(offset, size))
    chunk = _exactly(read, start, start + limit)
    data = chunk.data
    if not chunk.complete:
        feed = data.rfind(b"\n")
        is_long = len(data) >= LONGEST
        data = data[: feed + 1] if feed >= 0 or not is_long else data[: _character_start(data, len(data))]
    end = start + len(data)
    found = list(_lines(data, start, chunk.times))
    return Lines(start, end, max(size, end), chunk.complete and end == chunk.next_offset, found)


def lines_before(read: Read, before: int, limit: int) -> Lines:
    """The lines that end at `before` or have the byte before it, as many as begin within `limit` bytes of it."""
    size = size_of(read)
    before = min(before, size)
    start = max(0, before - limit)
    chunk = _exactly(read, start, before)
    data = chunk.data
    if start > 0 and (feed := data.find(b"\n", 0, LONGEST)) >= 0 and feed + 1 < len(data):
        start, data = start + feed + 1, data[feed + 1 :]
    elif start > 0:
        begun = next((place for place in range(min(CHARACTER, len(data))) if data[place] & 0xC0 != 0x80), 0)
        start, data = start + begun, data[begun:]
    found = list(_lines(data, start, chunk.times))
    return Lines(start, before, size, chunk.complete and before == size, found)


def tail_start(read: Read, lines: int) -> int:
    """Where the last `lines` lines begin, looking back over `MAX_TAIL_BYTES` at most."""
    end = start = size_of(read)
    if lines <= 0:
        return end
    left = lines
    while start > max(0, end - MAX_TAIL_BYTES):
        piece = max(0, start - PIECE)
        data = _exactly(read, piece, start).data
        place = len(data) - (start == end and data.endswith(b"\n"))
        while (place := data.rfind(b"\n", 0, place)) >= 0:
            left -= 1
            if left == 0:
                return piece + place + 1
        start = piece
    return start


def _exactly(read: Read, start: int, end: int) -> LogChunk:
    """All that there is of these bytes: a driver may answer with fewer than it was asked for."""
    data, times, at, complete, size = bytearray(), list[LogTime](), start, False, None
    while at < end:
        chunk = read(at, end - at)
        complete, size = chunk.complete, chunk.size
        if not chunk.data:
            break
        data += chunk.data
        times += chunk.times
        at = chunk.next_offset
        if complete:
            break
    return LogChunk(bytes(data), start, at, complete, tuple(times), size)


def _lines(data: bytes, start: int, times: tuple[LogTime, ...]) -> Iterator[Line]:
    at = 0
    while at < len(data):
        feed = data.find(b"\n", at, at + LONGEST)
        end = feed + 1 if feed >= 0 else len(data)
        if end - at > LONGEST:
            end = _character_start(data, at + LONGEST)
        text = data[at : feed if feed >= 0 else end].decode(errors="replace")
        yield Line(start + at, start + end, _time_of(times, start + at), text)
        at = end


def _character_start(data: bytes, place: int) -> int:
    """The place, or the one before it at which the UTF-8 character begins that it would cut."""
    for back in range(1, min(CHARACTER, place) + 1):
        byte = data[place - back]
        if byte & 0xC0 != 0x80:
            length = 4 if byte >= 0xF0 else 3 if byte >= 0xE0 else 2 if byte >= 0xC0 else 1
            return place - back if length > back else place
    return place


def _time_of(times: tuple[LogTime, ...], offset: int) -> datetime | None:
    place = bisect_right(times, offset, key=lambda one: one.offset)
    return datetime.fromtimestamp(times[place - 1].unix_ms / 1000, UTC) if place else None
