"""Reserve disk space for the database with ballast files that are removed when the disk is full.

Beside Postgres' data lies a file as large as what it needs to continue, and a few empty ones for inodes. When the disk
is almost full they are all removed in one step; when there is room again they are created anew. Runs are ended long
before (`disk_floor`): the reserve is for the seconds until then, and for anything but runs that fills the disk.
"""

import os
import shutil
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

BALLAST_BYTES, BALLAST_FILES = 64 * 2**20, 64
SHARE = 0.03
"""The ballast's largest share of a small disk: less than the floor below which runs are ended."""


@dataclass(slots=True)
class Reserve:
    """Ballast in `folder`. Call `tick` about once a second; it never raises."""

    folder: Path
    say: Callable[[str], None]
    size: int = BALLAST_BYTES
    released: bool = False

    def tick(self) -> None:
        with suppress(OSError):
            seen = os.statvfs(self.folder.parent)
            free, total = seen.f_bavail * seen.f_frsize, seen.f_blocks * seen.f_frsize
            size = min(self.size, int(total * SHARE))
            has_files = seen.f_files == 0 or seen.f_favail >= BALLAST_FILES
            if self.folder.exists() and (free < size // 2 or not has_files):
                self._release()
            elif not self.folder.exists() and free > 3 * size and (seen.f_files == 0 or seen.f_favail > 1000):
                self._make(size)

    def _release(self) -> None:
        shutil.rmtree(self.folder, ignore_errors=True)
        if not self.released:
            self.released = True
            self.say(
                f"The disk that holds {self.folder.parent} is full. The database goes on with the room kept for it."
            )

    def _make(self, size: int) -> None:
        """Create the ballast atomically, by renaming a complete folder."""
        draft = self.folder.with_name(f"{self.folder.name}.new")
        shutil.rmtree(draft, ignore_errors=True)
        try:
            draft.mkdir(mode=0o700)
            for number in range(BALLAST_FILES):
                (draft / f"inode-{number}").touch()
            descriptor = os.open(draft / "blocks", os.O_WRONLY | os.O_CREAT | os.O_CLOEXEC, 0o600)
            try:
                os.posix_fallocate(descriptor, 0, size)
            finally:
                os.close(descriptor)
            draft.rename(self.folder)
        except OSError:
            shutil.rmtree(draft, ignore_errors=True)
            raise
        if self.released:
            self.released = False
            self.say(f"The disk that holds {self.folder.parent} has room again. Some of it is kept for the database.")
