"""Points as bytes: three columns, each in whichever of a few simple forms is shortest for what metrics look like.

Steps mostly rise by the same amount, and are then two numbers however many there are. Times differ by little: their
differences are stored byte by byte, all lowest bytes first, which zlib shortens well (the "shuffle" of HDF5 and Blosc).
Values are shuffled too; those that are noise stay as they are, so that reading them costs nothing.
All numbers are little-endian.
"""

import struct
import zlib

import numpy as np
from numpy.typing import NDArray

from apps.tracking.points import Floats, Integers, Points

_HEAD = struct.Struct("<III")  # how many points, how long the first two columns are
_PROGRESSION = struct.Struct("<qq")
_EVEN, _DELTAS, _SHUFFLED, _PLAIN = b"e", b"d", b"s", b"p"
_LEVEL = 1  # higher ones gain some per cent, and cost several times as much
_WORTH = 0.9


def pack(points: Points) -> bytes:
    steps, moments = _packed_integers(points.steps), _packed_integers(points.moments)
    head = _HEAD.pack(len(points), len(steps), len(moments))
    return b"".join((head, steps, moments, _packed_floats(points.values)))


def unpack(data: bytes | memoryview) -> Points:
    view = memoryview(data)
    count, steps, moments = _HEAD.unpack_from(view)
    first, second = _HEAD.size + steps, _HEAD.size + steps + moments
    return Points(
        _integers(view[_HEAD.size : first], count),
        _integers(view[first:second], count),
        _floats(view[second:], count),
    )


def pack_slots(slots: NDArray[np.uint16]) -> bytes:
    """Which of a batch's series each point belongs to."""
    return zlib.compress(slots.astype("<u2").tobytes(), _LEVEL)


def unpack_slots(data: bytes | memoryview) -> NDArray[np.uint16]:
    return np.frombuffer(zlib.decompress(data), "<u2")


def _packed_integers(column: Integers) -> bytes:
    if not len(column):
        return _EVEN + _PROGRESSION.pack(0, 0)
    deltas = np.diff(column)  # wraps around where two are far apart, and back when they are summed
    if not len(deltas) or (deltas == deltas[0]).all():
        return _EVEN + _PROGRESSION.pack(int(column[0]), int(deltas[0]) if len(deltas) else 0)
    whole = np.concatenate([column[:1], deltas])
    return _DELTAS + zlib.compress(_shuffle(whole), _LEVEL)


def _integers(view: memoryview, count: int) -> Integers:
    form, body = bytes(view[:1]), view[1:]
    if form == _EVEN:
        first, delta = _PROGRESSION.unpack(body)
        with np.errstate(over="ignore"):
            return np.int64(first) + np.int64(delta) * np.arange(count, dtype=np.int64)
    deltas = _unshuffle(zlib.decompress(body), count).view("<i8")
    return np.cumsum(deltas, dtype=np.int64)


def _packed_floats(column: Floats) -> bytes:
    plain = column.astype("<f8").tobytes()
    packed = zlib.compress(_shuffle(column), _LEVEL)
    return _SHUFFLED + packed if len(packed) < _WORTH * len(plain) else _PLAIN + plain


def _floats(view: memoryview, count: int) -> Floats:
    form, body = bytes(view[:1]), view[1:]
    if form == _PLAIN:
        return np.frombuffer(body, "<f8", count)
    return _unshuffle(zlib.decompress(body), count).view("<f8")


def _shuffle(column: Integers | Floats) -> bytes:
    raw = np.ascontiguousarray(column.astype(column.dtype.newbyteorder("<"))).view(np.uint8)
    return raw.reshape(-1, 8).T.tobytes()


def _unshuffle(data: bytes, count: int) -> NDArray[np.uint8]:
    return np.ascontiguousarray(np.frombuffer(data, np.uint8).reshape(8, count).T).reshape(-1)
