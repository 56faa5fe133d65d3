"""A reader of Thrift's compact protocol ("THRIFT compact protocol" of the Apache project): structs by field ids.

It reads what strangers wrote, so that everything has an end: depth, number of values, and the bytes that there are.
"""

import struct
from collections.abc import Callable
from typing import Any

MOST_DEPTH = 32
MOST_VALUES = 500_000
TRUE, FALSE, STRUCT = 1, 2, 12
Struct = dict[int, Any]


class Malformed(ValueError):
    """It is no such message, or one without an end."""


class Reader:
    """`stop_after`: the outermost struct is not read beyond this field, since fields come in the order of their ids."""

    def __init__(self, data: bytes, stop_after: int) -> None:
        self._data, self._at, self._left, self._stop_after = data, 0, MOST_VALUES, stop_after

    def read(self) -> Struct:
        """Raises Malformed."""
        return self._struct(0)

    def _struct(self, depth: int) -> Struct:
        if depth > MOST_DEPTH:
            raise Malformed("it is nested too deeply")
        found: Struct = {}
        number = 0
        while (head := self._byte()) != 0:
            number = number + (head >> 4) if head >> 4 else self._zigzag()
            kind = head & 0x0F
            found[number] = kind == TRUE if kind in (TRUE, FALSE) else self._value(kind, depth)
            if depth == 0 and number >= self._stop_after:
                break
        return found

    def _value(self, kind: int, depth: int) -> Any:
        self._left -= 1
        if self._left < 0:
            raise Malformed("it has too many values")
        if kind == STRUCT:
            return self._struct(depth + 1)
        if kind in (9, 10):
            return self._list(depth)
        if kind == 11:
            return self._map(depth)
        plain: dict[int, Callable[[], Any]] = {
            TRUE: lambda: self._byte() == TRUE,
            FALSE: lambda: self._byte() == TRUE,
            3: self._byte,
            4: self._zigzag,
            5: self._zigzag,
            6: self._zigzag,
            7: lambda: struct.unpack("<d", self._bytes(8))[0],
            8: lambda: self._bytes(self._varint()),
        }
        if kind not in plain:
            raise Malformed(f"there is no type {kind}")
        return plain[kind]()

    def _list(self, depth: int) -> list[Any]:
        head = self._byte()
        size = head >> 4 if head >> 4 != 15 else self._varint()
        return [self._value(head & 0x0F, depth + 1) for _number in range(self._sized(size, depth))]

    def _map(self, depth: int) -> dict[Any, Any]:
        size = self._varint()
        if not size:
            return {}
        kinds = self._byte()
        pairs = range(self._sized(size, depth))
        return {repr(self._value(kinds >> 4, depth + 1)): self._value(kinds & 0x0F, depth + 1) for _number in pairs}

    def _sized(self, size: int, depth: int) -> int:
        if size > len(self._data) - self._at or depth > MOST_DEPTH:
            raise Malformed("it has more elements than bytes")
        return size

    def _byte(self) -> int:
        return self._bytes(1)[0]

    def _bytes(self, count: int) -> bytes:
        found = self._data[self._at : self._at + count]
        if len(found) != count:
            raise Malformed("it ends too early")
        self._at += count
        return found

    def _varint(self) -> int:
        value = shift = 0
        while True:
            byte = self._byte()
            value |= (byte & 0x7F) << shift
            if byte < 0x80:
                return value
            shift += 7
            if shift > 63:
                raise Malformed("a number is too long")

    def _zigzag(self) -> int:
        value = self._varint()
        return (value >> 1) ^ -(value & 1)
