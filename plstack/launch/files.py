"""File helpers: hold a lock, rotate a log, read the end of a file."""

import fcntl
import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

LOG_LIMIT = 10 * 2**20


@contextmanager
def locked(path: Path) -> Iterator[int]:
    """Hold an exclusive lock on a file (made if missing), waiting until it is free.

    Yields its descriptor: a child that inherits it holds the lock for as long as it lives.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    descriptor = os.open(path, os.O_RDONLY | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        yield descriptor
    finally:
        os.close(descriptor)


def rotate_log(log: Path, limit: int = LOG_LIMIT) -> None:
    """Copy a log larger than the limit to `<name>.1` and empty it; its writers append and are not disturbed.

    If the disk has no room for the copy, the log is emptied anyway.
    """
    if log.exists() and log.stat().st_size > limit:
        older = log.with_name(log.name + ".1")
        try:
            shutil.copyfile(log, older)
        except OSError:
            older.unlink(missing_ok=True)
        os.truncate(log, 0)


def tail(path: Path, size: int = 8192) -> str:
    """The end of a text file, empty when there is none."""
    try:
        with path.open("rb") as file:
            file.seek(max(0, path.stat().st_size - size))
            return file.read().decode(errors="replace")
    except OSError:
        return ""
