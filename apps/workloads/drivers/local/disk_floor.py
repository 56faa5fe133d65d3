"""Who has to end when a machine's disk is full: decided by the shims among themselves, each for itself, alike.

Below a floor of free space or free inodes, what fills the disk ends before the platform has to. Each shim keeps a
record of its workload in a file that was given its block at launch, because a full disk has none. All read all records
and choose by the same rule; whoever is chosen ends its own workload. Standard library only.

First goes who has grown in the last minute. Where nobody grows, nobody is to be ended for what somebody else fills; but
when even the floor is nearly used up, then who holds most of what its end gives back.
"""

import os
import struct
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from enum import IntEnum
from pathlib import Path

from apps.workloads.drivers.disk import FLOOR_SHARE, floor_bytes

FLOOR_FILES = 50_000
FRESH_S = 5.0
# How long the others wait for an end to give space back; a large /tmp takes a while to delete.
ENDING_S = 30.0
FOLDER = ".disk"
LAST_END = "last-end"
_LAYOUT = struct.Struct("<d?4Q")
_MOMENT = struct.Struct("<d")


class Pressure(IntEnum):
    """NEAR: worth a closer look. LOW: below the floor. CRITICAL: below a quarter of it."""

    NONE = 0
    NEAR = 1
    LOW = 2
    CRITICAL = 3


@dataclass(frozen=True, slots=True)
class Space:
    """Free and total bytes and inodes of a file system, for users without privileges; 0 inodes in all: unlimited."""

    free: int
    total: int
    free_files: int
    total_files: int

    @classmethod
    def of(cls, path: str | Path) -> "Space":
        """Raises OSError."""
        seen = os.statvfs(path)
        return cls(
            seen.f_bavail * seen.f_frsize,
            (seen.f_blocks - seen.f_bfree + seen.f_bavail) * seen.f_frsize,
            seen.f_favail,
            seen.f_files,
        )

    @property
    def floor(self) -> int:
        return floor_bytes(self.total)

    @property
    def files_floor(self) -> int:
        return min(FLOOR_FILES, int(self.total_files * FLOOR_SHARE))

    @property
    def pressure(self) -> Pressure:
        return max(_pressure(self.free, self.floor), self.files_pressure)

    @property
    def files_pressure(self) -> Pressure:
        return _pressure(self.free_files, self.files_floor) if self.total_files else Pressure.NONE


def _pressure(free: int, floor: int) -> Pressure:
    if free < floor // 4:
        return Pressure.CRITICAL
    if free < floor:
        return Pressure.LOW
    return Pressure.NEAR if free < 4 * floor else Pressure.NONE


@dataclass(frozen=True, slots=True)
class Record:
    """What one workload holds that its end gives back, and by how much it has grown in the last minute."""

    held: int = 0
    grown: int = 0
    held_files: int = 0
    grown_files: int = 0
    ending: bool = False
    at: float = 0.0


def chosen(space: Space, records: dict[str, Record], now: float) -> str | None:
    """The name of the workload that has to end; None for nobody, or while another end may yet give enough back."""
    if space.pressure < Pressure.LOW:
        return None
    if any(record.ending and now - record.at < ENDING_S for record in records.values()):
        return None
    live = {name: each for name, each in records.items() if not each.ending and 0 <= now - each.at < FRESH_S}
    if space.files_pressure >= Pressure.LOW:
        amounts = {name: (each.grown_files, each.held_files) for name, each in live.items()}
        return _most(amounts, space.files_floor, space.files_pressure)
    amounts = {name: (each.grown, each.held) for name, each in live.items()}
    return _most(amounts, space.floor, space.pressure)


def _most(amounts: dict[str, tuple[int, int]], floor: int, pressure: Pressure) -> str | None:
    """Small amounts are nobody's fault: the end of such a workload would not help."""
    guilty = {name: grown + held for name, (grown, held) in amounts.items() if grown > floor // 16}
    if not guilty and pressure is Pressure.CRITICAL:
        guilty = {name: held for name, (_, held) in amounts.items() if held > floor // 4}
    return max(guilty, key=lambda name: (guilty[name], name), default=None)


class Seat:
    """One shim's place among the others of its machine."""

    def __init__(self, runs: Path, name: str, clock: Callable[[], float] = time.monotonic) -> None:
        """Takes its block now. Raises OSError."""
        self.folder = runs / FOLDER
        self.name = name
        self.clock = clock
        self.folder.mkdir(mode=0o700, exist_ok=True)
        self._file = _reserved(self.folder / name, _LAYOUT.size)
        self._last_end = _reserved(self.folder / LAST_END, _MOMENT.size)

    def write(self, record: Record, at: float) -> None:
        """`at`: when the measuring began that led to the record."""
        amounts = (record.held, record.grown, record.held_files, record.grown_files)
        with suppress(OSError):
            os.pwrite(self._file, _LAYOUT.pack(at, record.ending, *amounts), 0)

    def last_end(self) -> float:
        """When a workload was last ended for a full disk. It ended for what had grown until then: that is settled."""
        with suppress(OSError, struct.error):
            (at,) = _MOMENT.unpack(os.pread(self._last_end, _MOMENT.size, 0))
            return at if at <= self.clock() else 0.0  # of before the machine was started anew
        return 0.0

    def read_all(self) -> dict[str, Record]:
        """Of all seats, also of those that nobody has written to for long."""
        since = self.last_end()
        return {name: record for name, record in self._records() if record.ending or record.at >= since}

    def all_measured(self, since: float) -> bool:
        """Whether everybody who measures at all has done so since then.

        A disk can fill between two turns of who fills it. Until that shim has looked again its record is as small as
        any other, and one who only happened to grow would be taken for it.
        """
        now = self.clock()
        return all(each.ending or each.at >= since or now - each.at >= FRESH_S for _, each in self._records())

    def _records(self) -> Iterator[tuple[str, Record]]:
        for name in os.listdir(self.folder):
            with suppress(OSError, struct.error):
                at, ending, held, grown, held_files, grown_files = _LAYOUT.unpack((self.folder / name).read_bytes())
                yield name, Record(held, grown, held_files, grown_files, ending, at)

    def leave(self, ended: bool) -> None:
        """To be called once what the workload held is given back. `ended`: for a full disk."""
        with suppress(OSError):
            if ended:
                os.pwrite(self._last_end, _MOMENT.pack(self.clock()), 0)
            (self.folder / self.name).unlink()
        os.close(self._file)
        os.close(self._last_end)


def _reserved(path: Path, size: int) -> int:
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    os.posix_fallocate(descriptor, 0, size)
    return descriptor


def vacate(runs: Path, name: str) -> None:
    """The seat of a shim that was killed."""
    with suppress(OSError):
        (runs / FOLDER / name).unlink()
