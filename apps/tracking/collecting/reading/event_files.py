"""Event files of TensorBoard: records of TFRecord, each an `Event` whose summary may have scalars.

They are written while they are read, and by anybody: a record that is not whole yet is left for the next time, one
that is large is passed over unread, and damage ends the reading of the file.
"""

import struct
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from apps.tracking.collecting.reading import protobuf as wire
from apps.tracking.collecting.reading.checksums import masked
from apps.tracking.collecting.reading.rows import name_in_file
from apps.tracking.points import Point

HEAD, TAIL = 12, 4
LONGEST = 256 * 1024
"""Bytes of a record that is read: scalars take about 50; more is pictures, histograms and graphs."""
MOST_IN_RECORD = 1000
_LARGEST = 1 << 40
_LATEST = 4_102_444_800.0
_FLOAT, _DOUBLE, _INT32, _INT64 = 1, 2, 3, 9
_FORMATS = {_FLOAT: "<f", _DOUBLE: "<d", _INT32: "<i", _INT64: "<q"}

ReadAt = Callable[[int, int], bytes]


@dataclass(frozen=True, slots=True)
class EventsRead:
    """`offset`: where to go on. `is_damaged`: no further record is found."""

    points: list[Point]
    offset: int
    is_damaged: bool = False


def read_events(read: ReadAt, offset: int, size: int, *, prefix: str, most_bytes: int, at: float) -> EventsRead:
    """Scalars of the whole records from `offset` on. `at`: for events with a time that is none."""
    points, end = list[Point](), min(size, offset + most_bytes)
    while offset + HEAD <= size and offset < end:
        head = read(offset, HEAD)
        if len(head) < HEAD:
            break
        (length,), (checksum,) = struct.unpack("<Q", head[:8]), struct.unpack("<I", head[8:])
        if masked(head[:8]) != checksum or length > _LARGEST:
            return EventsRead(points, offset, is_damaged=True)
        after = offset + HEAD + length + TAIL
        if after > size:
            break
        if length <= LONGEST:
            data = read(offset + HEAD, length + TAIL)
            if len(data) < length + TAIL:
                break
            try:
                found = _scalars(memoryview(data)[:length], prefix, at)
            except (wire.Damaged, struct.error, UnicodeDecodeError):
                return EventsRead(points, offset, is_damaged=True)
            if found and masked(data[:length]) != struct.unpack("<I", data[length:])[0]:
                return EventsRead(points, offset, is_damaged=True)
            points += found
        offset = after
    return EventsRead(points, offset)


def _scalars(event: memoryview, prefix: str, at: float) -> list[Point]:
    moment, step, summary = at, 0, None
    for number, kind, value in wire.fields(event):
        if number == 1 and kind == wire.FIXED64 and isinstance(value, memoryview):
            moment = wire.double(value)
        elif number == 2 and kind == wire.VARINT and isinstance(value, int):
            step = wire.signed(value)
        elif number == 5 and kind == wire.BYTES and isinstance(value, memoryview):
            summary = value
    if summary is None:
        return []
    moment = moment if 0 < moment < _LATEST else at
    found = []
    for tag, scalar in _values(summary):
        if name := name_in_file(tag, prefix):
            found.append(Point(name, scalar, step if step >= 0 else None, moment))
    return found


def _values(summary: memoryview) -> Iterator[tuple[str, float]]:
    for count, (number, kind, value) in enumerate(wire.fields(summary)):
        if count >= MOST_IN_RECORD:
            return
        if number == 1 and kind == wire.BYTES and isinstance(value, memoryview):
            tag, scalar = _value(value)
            if tag and scalar is not None:
                yield tag, scalar


def _value(message: memoryview) -> tuple[str, float | None]:
    """Tag and number of a `Summary.Value`: a simple one, or a tensor of one element that the scalar plugin wrote."""
    tag, scalar, plugin = "", None, ""
    for number, kind, value in wire.fields(message):
        if isinstance(value, int):
            continue
        if number == 1 and kind == wire.BYTES:
            tag = bytes(value).decode()
        elif number == 2 and kind == wire.FIXED32:
            scalar = wire.single(value)
        elif number == 8 and kind == wire.BYTES:
            scalar = _single_element(value)
        elif number == 9 and kind == wire.BYTES:
            plugin = _plugin(value)
    return tag, scalar if plugin in ("", "scalars") else None


def _plugin(metadata: memoryview) -> str:
    for number, kind, value in wire.fields(metadata):
        if number == 1 and kind == wire.BYTES and isinstance(value, memoryview):
            for inner, inner_kind, name in wire.fields(value):
                if inner == 1 and inner_kind == wire.BYTES and isinstance(name, memoryview):
                    return bytes(name).decode()
    return ""


def _single_element(tensor: memoryview) -> float | None:
    """The number of a tensor of one element; None for any other."""
    kind_of, found = 0, list[float]()
    for number, kind, value in wire.fields(tensor):
        if number == 1 and isinstance(value, int):
            kind_of = value
        elif number == 4 and isinstance(value, memoryview):  # tensor_content
            layout = _FORMATS.get(kind_of, "")
            found += [struct.unpack(layout, value)[0]] if layout and len(value) == struct.calcsize(layout) else []
        elif number in (5, 6) and isinstance(value, memoryview):
            layout = "<f" if number == 5 else "<d"
            found += [struct.unpack(layout, value)[0]] if len(value) == struct.calcsize(layout) else []
        elif number in (7, 10) and kind == wire.VARINT and isinstance(value, int):
            found.append(wire.signed(value))
    return float(found[0]) if len(found) == 1 else None
