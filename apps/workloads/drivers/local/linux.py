"""What Python's standard library does not reach of Linux: prctl, and files that are written whole or not at all."""

import ctypes
import errno
import fcntl
import os
from contextlib import suppress
from pathlib import Path
from uuid import uuid4

PR_SET_PDEATHSIG = 1
PR_SET_CHILD_SUBREAPER = 36

_libc = ctypes.CDLL(None, use_errno=True)


def prctl(option: int, value: int) -> None:
    """Raises OSError. Affects the calling process only."""
    if _libc.prctl(option, ctypes.c_ulong(value), 0, 0, 0) != 0:
        raise OSError(ctypes.get_errno(), "prctl")


def write_atomic(path: Path, data: bytes, durable: bool = True) -> None:
    """Readers see the old content or the new; if `durable`, also after a power cut.

    Raises OSError (disk full) with the old content kept. The file is readable by its owner only.
    """
    temporary = path.with_name(f"{path.name}.{os.getpid()}.tmp")
    descriptor = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC, 0o600)
    with open(descriptor, "wb", buffering=0) as file:
        if file.write(data) != len(data):
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        if durable:
            os.fsync(descriptor)
    os.rename(temporary, path)
    if durable:
        _sync(path.parent)


def _sync(directory: Path) -> None:
    descriptor = os.open(directory, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def try_lock(path: Path) -> int | None:
    """An exclusive flock held by the returned descriptor until it is closed or the process dies; None if taken."""
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        os.close(descriptor)
        return None
    return descriptor


def is_locked(path: Path) -> bool:
    """Whether a live process holds the lock. Raises FileNotFoundError. Takes a shared lock for an instant."""
    descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    finally:
        os.close(descriptor)
    return False


def remove_tree(path: Path) -> None:
    """Remove a folder in which a workload has written, as far as possible; follows no link.

    `shutil.rmtree` recurses, and a program can nest folders deeper than any stack. Here folders are moved up to the top
    one and emptied there in their turn.
    """
    with suppress(OSError):
        top = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC)
        try:
            waiting = os.listdir(top)
            while waiting:
                with suppress(OSError):
                    waiting.extend(_remove_entry(top, waiting.pop()))
        finally:
            os.close(top)
        os.rmdir(path)


def _remove_entry(top: int, name: str) -> list[str]:
    """Names under which the folders that were in this one stand in the top one now."""
    try:
        folder = os.open(name, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC, dir_fd=top)
    except NotADirectoryError:
        os.unlink(name, dir_fd=top)
        return []
    except OSError as error:
        if error.errno != errno.ELOOP:
            raise
        os.unlink(name, dir_fd=top)
        return []
    moved = []
    try:
        with os.scandir(folder) as entries:
            for entry in entries:
                if entry.is_dir(follow_symlinks=False):
                    moved.append(uuid4().hex)
                    os.rename(entry.name, moved[-1], src_dir_fd=folder, dst_dir_fd=top)
                else:
                    os.unlink(entry.name, dir_fd=folder)
    finally:
        os.close(folder)
    os.rmdir(name, dir_fd=top)
    return moved
