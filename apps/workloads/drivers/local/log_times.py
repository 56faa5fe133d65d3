"""When each part of a log was stored: a side file of (byte offset, time), so that the log keeps the program's bytes.

    offset (u64, little endian) · Unix time in milliseconds (u64)

Bytes from an entry's offset on, up to the next entry's, were stored at its time or up to `every_s` later. The file is
bounded: once it is full, every second entry goes and the interval doubles. Standard library only.
"""

import os
import struct
import time
from bisect import bisect_left, bisect_right
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

from apps.workloads.drivers.base import LogTime
from apps.workloads.drivers.local.linux import write_atomic

ENTRY = struct.Struct("<QQ")
EVERY_S = 0.05
MAX_ENTRIES = 262_144
"""4 MiB: four hours of steady output at full resolution, a month of it at some ten seconds."""
MAX_TIMES = 4096
"""So many come with one chunk; of more, some that are spread evenly."""


class LogTimes:
    """Writes the side file. What it cannot write is missing; the log itself never waits for it.

    `clock`: monotonic seconds. `now`: Unix seconds, asked once, so that a clock that is set back puts nothing out of
    order.
    """

    def __init__(
        self,
        path: Path,
        clock: Callable[[], float],
        now: Callable[[], float] = time.time,
        most: int = MAX_ENTRIES,
    ) -> None:
        self._path, self._clock, self._most = path, clock, most
        self._epoch = now() - clock()
        self._every_s = EVERY_S
        self._last = float("-inf")
        self._count = 0
        self._file: int | None = None
        with suppress(OSError):
            self._open()

    def _open(self) -> None:
        self._file = os.open(self._path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        self._count = os.fstat(self._file).st_size // ENTRY.size

    def mark(self, offset: int) -> None:
        """Bytes from `offset` on are stored now."""
        now = self._clock()
        if self._file is None or now - self._last < self._every_s:
            return
        with suppress(OSError):
            if self._count >= self._most:
                self._thin()
            entry = ENTRY.pack(offset, round((self._epoch + now) * 1000))
            # At its own place: the rest of an entry that a full disk has cut is written over.
            if os.pwrite(self._file, entry, self._count * ENTRY.size) == ENTRY.size:
                self._count += 1
                self._last = now

    def _thin(self) -> None:
        """Readers keep the file that they have opened; the next one finds the thinner one."""
        entries = self._path.read_bytes()
        kept = b"".join(entries[at : at + ENTRY.size] for at in range(0, self._count * ENTRY.size, 2 * ENTRY.size))
        write_atomic(self._path, kept, durable=False)
        old, self._file = self._file, None
        if old is not None:
            os.close(old)
        self._open()
        self._every_s *= 2


def read_times(path: Path, start: int, end: int, most: int = MAX_TIMES) -> tuple[LogTime, ...]:
    """The entries that say when the bytes [`start`, `end`) were stored; none for a log of before there were any."""
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    except FileNotFoundError:
        return ()
    try:
        return _between(descriptor, start, end, most)
    finally:
        os.close(descriptor)


def _between(descriptor: int, start: int, end: int, most: int) -> tuple[LogTime, ...]:
    places = range(os.fstat(descriptor).st_size // ENTRY.size)

    def offset_at(place: int) -> int:
        return _unpacked(os.pread(descriptor, ENTRY.size, place * ENTRY.size)).offset

    first = max(0, bisect_right(places, start, key=offset_at) - 1)
    last = bisect_left(places, end, lo=first, key=offset_at)
    data = os.pread(descriptor, (last - first) * ENTRY.size, first * ENTRY.size)
    step = -(-(last - first) // most) or 1
    return tuple(_unpacked(data[at : at + ENTRY.size]) for at in range(0, len(data), step * ENTRY.size))


def _unpacked(entry: bytes) -> LogTime:
    return LogTime(*ENTRY.unpack(entry))
