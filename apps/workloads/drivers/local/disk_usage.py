"""What folders hold on disk, counted a little at a time, so that whoever counts can do other things meanwhile.

Blocks are counted, not lengths: holes of sparse files are free. A file with several names counts once, and so does
what was deleted and is still open. Standard library only.
"""

import os
import stat
from collections.abc import Iterable, Iterator
from contextlib import suppress
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    Entries = os._ScandirIterator[str]

BLOCK_BYTES = 512
ENTRIES_PER_STEP = 64
MAX_DEPTH = 200
"""Each level holds two descriptors open, of the 1,024 that a process has."""
LARGE_BYTES = 1024 * 1024


class TooDeep(Exception):
    """Folders are nested deeper than `MAX_DEPTH`: what is below cannot be counted."""


class Count:
    """Of one folder and all below it on the same file system. `size` in bytes; both only ever grow."""

    def __init__(self, root: str) -> None:
        self.root = root
        self.size = 0
        self.files = 0
        self._seen: set[int] = set()

    def steps(self) -> Iterator[None]:
        """Counts on with each step. Links are not followed. Raises `TooDeep`."""
        try:
            top = os.open(self.root, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC)
        except OSError:  # not made yet, or gone
            return
        status = os.fstat(top)
        self._add(status)
        levels = [(top, os.scandir(top))]
        try:
            yield from self._descend(levels, status.st_dev)
        finally:
            for descriptor, entries in levels:
                entries.close()
                os.close(descriptor)

    def _descend(self, levels: "list[tuple[int, Entries]]", device: int) -> Iterator[None]:
        looked = 0
        while levels:
            descriptor, entries = levels[-1]
            entry = next(entries, None)
            if entry is None:
                levels.pop()
                os.close(descriptor)
                continue
            looked += 1
            if looked % ENTRIES_PER_STEP == 0:
                yield
            with suppress(OSError):  # removed while we look
                status = entry.stat(follow_symlinks=False)
                if status.st_dev != device:
                    continue
                self._add(status)
                if stat.S_ISDIR(status.st_mode):
                    if len(levels) >= MAX_DEPTH:
                        raise TooDeep
                    below = _open(entry.name, descriptor, status)
                    levels.append((below, os.scandir(below)))

    def _add(self, status: os.stat_result) -> None:
        size = status.st_blocks * BLOCK_BYTES
        several = status.st_nlink > 1 and not stat.S_ISDIR(status.st_mode)
        if several or size >= LARGE_BYTES:  # a large one may also be moved ahead of us, into a folder still to come
            if status.st_ino in self._seen:
                return
            self._seen.add(status.st_ino)
        self.size += size
        self.files += 1


def _open(name: str, folder: int, status: os.stat_result) -> int:
    flags = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
    try:
        return os.open(name, flags, dir_fd=folder)
    except PermissionError:
        if status.st_uid != os.geteuid():
            raise
        # Without root, a workload has the platform's user id; a folder that it locks would be one to hide files in.
        os.chmod(name, stat.S_IMODE(status.st_mode) | stat.S_IRWXU, dir_fd=folder)
        return os.open(name, flags, dir_fd=folder)


def deleted_bytes(pids: Iterable[int], devices: frozenset[int]) -> int:
    """Bytes of files on these file systems that have no name any more and that these processes hold, open or mapped."""
    found: dict[tuple[int, int], int] = {}
    for pid in pids:
        for path in (*_open_files(pid), *_mapped_files(pid)):
            with suppress(OSError):
                status = os.stat(path)
                if stat.S_ISREG(status.st_mode) and status.st_nlink == 0 and status.st_dev in devices:
                    found[status.st_dev, status.st_ino] = status.st_blocks * BLOCK_BYTES
    return sum(found.values())


def _open_files(pid: int) -> list[str]:
    try:
        return [f"/proc/{pid}/fd/{name}" for name in os.listdir(f"/proc/{pid}/fd")]
    except OSError:
        return []


def _mapped_files(pid: int) -> list[str]:
    """Each line of maps that ends so: `7f12-7f34 rw-s 0 08:01 1234 /path (deleted)`."""
    try:
        with open(f"/proc/{pid}/maps", errors="replace") as file:
            return [f"/proc/{pid}/map_files/{line.partition(' ')[0]}" for line in file if line.endswith(" (deleted)\n")]
    except OSError:
        return []


def written_bytes(pids: Iterable[int]) -> dict[int, int]:
    """What each process, and the children that it waited for, has ever written to files. See proc_pid_io(5)."""
    found = {}
    for pid in pids:
        with suppress(OSError, ValueError), open(f"/proc/{pid}/io") as file:
            fields = dict(line.split(": ") for line in file.read().splitlines())
            found[pid] = int(fields["write_bytes"])
    return found
