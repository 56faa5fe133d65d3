"""The wire format of Protocol Buffers, as far as reading a few fields of untrusted messages needs it."""

import struct
from collections.abc import Iterator

VARINT, FIXED64, BYTES, FIXED32 = 0, 1, 2, 5


class Damaged(ValueError):
    """Not a message."""


def fields(data: memoryview) -> Iterator[tuple[int, int, memoryview | int]]:
    """Number, kind and value of each field: an int for VARINT, else its bytes. Raises `Damaged`."""
    at = 0
    while at < len(data):
        key, at = _varint(data, at)
        number, kind = key >> 3, key & 7
        value: memoryview | int
        if kind == VARINT:
            value, at = _varint(data, at)
        else:
            if kind == BYTES:
                length, at = _varint(data, at)
            else:
                length = {FIXED64: 8, FIXED32: 4}.get(kind, -1)
            if length < 0 or at + length > len(data):
                raise Damaged
            value, at = data[at : at + length], at + length
        yield number, kind, value


def _varint(data: memoryview, at: int) -> tuple[int, int]:
    value = 0
    for place in range(10):
        if at + place >= len(data):
            raise Damaged
        byte = data[at + place]
        value |= (byte & 0x7F) << (7 * place)
        if byte < 0x80:
            return value & 0xFFFFFFFFFFFFFFFF, at + place + 1
    raise Damaged


def signed(value: int) -> int:
    """What a varint of a signed type stands for."""
    return value - (1 << 64) if value >= 1 << 63 else value


def double(data: memoryview) -> float:
    return float(struct.unpack("<d", data)[0])


def single(data: memoryview) -> float:
    return float(struct.unpack("<f", data)[0])
