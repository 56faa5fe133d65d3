"""Room that is kept for the database on a disk that others fill.

A file as large as what Postgres needs to go on lies beside its data, and a few empty ones for inodes. When the disk has
hardly anything left they are removed, at once and in one step; when there is room again they are made anew. Runs are
ended long before (`disk_floor`): this is for the seconds until then, and for what fills the disk and is no run.
"""

import os
import shutil
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

BALLAST_BYTES, BALLAST_FILES = 64 * 2**20, 64
SHARE = 0.03
"""Of a small disk, the ballast takes no more than this: less than the floor below which runs are ended."""


@dataclass(slots=True)
class Reserve:
    """Ballast in `folder`. `tick` is to be called about once a second; it never raises."""

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
        """Appears as a whole: half of it would be no reserve."""
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
