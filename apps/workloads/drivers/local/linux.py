"""What Python's standard library does not reach of Linux: prctl, and files that are written whole or not at all."""

import ctypes
import errno
import fcntl
import os
import subprocess
from pathlib import Path

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


def reserve(path: Path, size: int) -> None:
    """A file whose blocks are given to it now, so that `write_reserved` needs none. Raises OSError (disk full)."""
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        os.posix_fallocate(descriptor, 0, size)
    finally:
        os.close(descriptor)


def write_reserved(reserved: Path, path: Path, data: bytes) -> None:
    """As `write_atomic`, durable, in the blocks of `reserved`, which becomes `path`. Raises OSError."""
    descriptor = os.open(reserved, os.O_WRONLY | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        if os.pwrite(descriptor, data, 0) != len(data):
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        os.ftruncate(descriptor, len(data))
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
    os.rename(reserved, path)
    _sync(path.parent)


def remove_tree(path: Path) -> None:
    """Removes what a workload leaves, however it has nested and locked it; what cannot be removed stays.

    By rm(1): `shutil.rmtree` of this Python calls itself for each level and gives up at a thousand.
    """
    command = ["rm", "-rf", "--one-file-system", "--", str(path)]
    for repair in ([], ["chmod", "-R", "u+rwX", "--", str(path)]):
        if repair:
            subprocess.run(repair, stdin=subprocess.DEVNULL, capture_output=True, check=False)
        subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, check=False)
        if not os.path.lexists(path):
            return
