"""The platform's disk: where files are, when it is full, and how large trees are removed in the background."""

import fcntl
import os
import shutil
import stat
from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from uuid import UUID, uuid4

from django.conf import settings
from django.utils.translation import gettext_lazy as _

from apps.common.errors import Unavailable

# Admission stops before the disk is full, so that what runs can still write.
MAX_DISK_USED = 0.9


def data_root() -> Path:
    """Where the platform keeps people's files; mounts name folders below it."""
    return Path(settings.PLSTACK_HOME) / "data"


def require_free_space() -> None:
    """Raise `Unavailable` at nine tenths of the disk's space, or of the files that it has room for."""
    disk, inodes = shutil.disk_usage(settings.PLSTACK_HOME), os.statvfs(settings.PLSTACK_HOME)
    if disk.used / max(1, disk.used + disk.free) >= MAX_DISK_USED:
        raise Unavailable(
            _("The platform's disk is more than 90 % full, so nothing new is taken."),
            hint=_("Ask the platform's administrators to free space."),
        )
    if inodes.f_files and inodes.f_favail / inodes.f_files <= 1 - MAX_DISK_USED:
        raise Unavailable(
            _("The platform's disk has hardly any room for further files, so nothing new is taken."),
            hint=_("Ask the platform's administrators to delete files."),
        )


def trash() -> Path:
    """The folder of trees that wait to be removed; only the platform can reach it."""
    folder = data_root() / ".trash"
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    return folder


def move_to_trash(path: Path) -> None:
    """Move a tree to the trash at once; `empty_trash` removes its files later. A missing tree is no error."""
    with suppress(FileNotFoundError):
        path.rename(trash() / uuid4().hex)


def empty_trash() -> int:
    """Remove what is in the trash; returns the number of trees.

    Folders in a tree are moved up into the trash and emptied there in their turn: nothing recurses however deeply a
    program has nested them, no tree delays another for long, and being killed here loses nothing.
    """
    found = os.listdir(trash())
    waiting = deque(found)
    with _opened(trash()) as top:
        while waiting:
            with suppress(OSError):  # kept for the next time
                waiting.extend(_emptied(top, waiting.popleft()))
    return len(found)


def _emptied(top: int, name: str) -> list[str]:
    """Remove one entry of the trash; returns the names under which its folders now wait there."""
    if not stat.S_ISDIR(os.stat(name, dir_fd=top, follow_symlinks=False).st_mode):
        os.unlink(name, dir_fd=top)
        return []
    moved = []
    with _opened(name, top) as folder, os.scandir(folder) as entries:
        for entry in entries:
            if entry.is_dir(follow_symlinks=False):
                moved.append(uuid4().hex)
                os.rename(entry.name, moved[-1], src_dir_fd=folder, dst_dir_fd=top)
            else:
                os.unlink(entry.name, dir_fd=folder)
    os.rmdir(name, dir_fd=top)
    return moved


@contextmanager
def _opened(path: Path | str, parent: int | None = None) -> Iterator[int]:
    descriptor = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC, dir_fd=parent)
    try:
        yield descriptor
    finally:
        os.close(descriptor)


def staging(organisation_id: UUID, job_id: UUID | str = "") -> Path:
    """Where a job assembles its files before they appear in their tree; only the platform can reach it."""
    return data_root() / str(organisation_id) / "staging" / str(job_id)


@contextmanager
def exclusive_turn(name: str) -> Iterator[bool]:
    """Whether this process alone on this machine does the work of that name, until the block ends.

    A lock of the kernel's: it ends with the process, however that ends, and needs no database.
    """
    folder = data_root() / ".turns"
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    path = folder / name
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
    try:
        ours = _lock(descriptor, path)
        yield ours
        if ours:
            path.unlink(missing_ok=True)
    finally:
        os.close(descriptor)


def _lock(descriptor: int, path: Path) -> bool:
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        # Whoever held it before may have removed the file after we opened it: then this lock keeps nobody away.
        return os.fstat(descriptor).st_ino == path.stat().st_ino
    except (BlockingIOError, FileNotFoundError):
        return False
