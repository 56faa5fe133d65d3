"""A walk over the fields of a protobuf message in a file: what is not asked for is stepped over, not read."""

from collections.abc import Iterator
from dataclasses import dataclass

from apps.modelhub.recognising.found import Malformed
from apps.modelhub.recognising.reading import FileView

VARINT, FIXED64, BYTES, FIXED32 = 0, 1, 2, 5


@dataclass(frozen=True, slots=True)
class Field:
    """`value` of a number; the bytes of anything else are from `start` to `end`."""

    number: int
    wire: int
    value: int
    start: int
    end: int


def fields(view: FileView, start: int, end: int) -> Iterator[Field]:
    """Of the message between two offsets. Raises `Malformed`."""
    at = start
    while at < end:
        view.budget.step()
        key, at = _varint(view, at, end)
        number, wire = key >> 3, key & 7
        if number == 0:
            raise Malformed("no field has the number 0")
        value, begin = 0, at
        if wire == VARINT:
            value, at = _varint(view, at, end)
        elif wire == BYTES:
            size, begin = _varint(view, at, end)
            at = begin + size
        elif wire in (FIXED64, FIXED32):
            at += 8 if wire == FIXED64 else 4
        else:
            raise Malformed("no such wire type")
        if at > end:
            raise Malformed("a field ends beyond its message")
        yield Field(number, wire, value, begin, at)


def _varint(view: FileView, at: int, end: int) -> tuple[int, int]:
    value = 0
    for shift in range(0, 70, 7):
        if at >= end:
            raise Malformed("a number ends beyond its message")
        byte = view.at(at, 1)[0]
        at += 1
        value |= (byte & 0x7F) << shift
        if byte < 0x80:
            return value & (1 << 64) - 1, at
    raise Malformed("a number of more than ten bytes")


def text(view: FileView, field: Field, most: int = 800) -> bytes:
    """The field's first bytes."""
    if field.wire != BYTES:
        raise Malformed("no text")
    return view.at(field.start, min(field.end - field.start, most))
