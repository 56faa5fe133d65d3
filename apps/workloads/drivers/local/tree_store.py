"""Trees that a machine keeps for its work: `<name>/` below a folder, there only once it is complete.

Whoever holds `<name>.pull` may make it; whoever uses it holds `<name>.use` shared, and what removes it holds that
alone, so that nothing goes that runs. Standard library only.
"""

import ctypes
import fcntl
import json
import os
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

from apps.workloads.drivers.local.linux import is_locked, remove_tree, try_lock

KEEP_PARTS_S = 86_400.0
_libc = ctypes.CDLL(None, use_errno=True)


class TreeStore:
    """`record`: the file of a complete tree that has its `size` in bytes; when it was touched tells its last use.

    `parts`: prefixes of what is there of trees that are not complete yet.
    """

    parts: tuple[str, ...] = (".new-",)

    def __init__(self, folder: Path, record: str) -> None:
        self.folder, self._record = folder, record

    def complete(self, name: str) -> Path:
        return self.folder / name

    def is_complete(self, name: str) -> bool:
        return (self.complete(name) / self._record).exists()

    def draft_of(self, name: str) -> Path:
        return self.folder / f".new-{name}"

    def hold_tree(self, name: str) -> int:
        """A descriptor that keeps it from being removed, until it is closed or its process is gone. Raises OSError."""
        self.folder.mkdir(mode=0o755, parents=True, exist_ok=True)
        descriptor = os.open(self._use(name), os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        fcntl.flock(descriptor, fcntl.LOCK_SH)
        with suppress(FileNotFoundError):
            os.utime(self.complete(name) / self._record)  # used now: the others go first
        return descriptor

    def try_to_make_tree(self, name: str) -> int | None:
        """The right to make it, as long as the descriptor is open; None while somebody else has it."""
        self.folder.mkdir(mode=0o755, parents=True, exist_ok=True)
        return try_lock(self.folder / f"{name}.pull")

    def publish(self, name: str) -> None:
        """The draft becomes the tree in one step, after all of it is on the disk. Raises OSError."""
        draft = self.draft_of(name)
        sync_files(draft)
        draft.rename(self.complete(name))

    def is_in_use(self, name: str) -> bool:
        """Whether somebody would be in the way of its removal."""
        lock = try_lock(self._use(name))
        if lock is not None:
            os.close(lock)
        return lock is None

    def kept(self) -> Iterator[tuple[float, int, str]]:
        """When each was used last, its size in bytes, and its name."""
        for record in self.folder.glob(f"[0-9a-f]*/{self._record}"):
            with suppress(OSError, ValueError, KeyError):
                yield record.stat().st_mtime, int(json.loads(record.read_text())["size"]), record.parent.name

    def remove(self, name: str) -> bool:
        """False where somebody uses it."""
        lock = try_lock(self._use(name))
        if lock is None:
            return False
        try:
            trash = self.folder / f".trash-{name}"
            remove_tree(trash)
            self.complete(name).rename(trash)
        finally:
            os.close(lock)
        remove_tree(trash)
        return True

    def sweep(self) -> None:
        """Removes what processes left that were killed: at once what is of no use, parts of a tree after a day."""
        for trash in self.folder.glob(".trash-*"):
            remove_tree(trash)
        for prefix in self.parts:
            for left in self.folder.glob(f"{prefix}*"):
                self._sweep_part(left, left.name.removeprefix(prefix))

    def _sweep_part(self, left: Path, name: str) -> None:
        lock = try_lock(self.folder / f"{name}.pull")
        if lock is None:
            return
        with suppress(OSError):
            if self.complete(name).exists() or time.time() - left.stat().st_mtime > KEEP_PARTS_S:
                remove_tree(left)
        os.close(lock)

    def is_being_made(self, name: str) -> bool:
        with suppress(FileNotFoundError):
            return is_locked(self.folder / f"{name}.pull")
        return False

    def _use(self, name: str) -> Path:
        return self.folder / f"{name}.use"


def sync_files(folder: Path) -> None:
    """All of its file system is on the disk. Raises OSError."""
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        _libc.syncfs(descriptor)
    finally:
        os.close(descriptor)
