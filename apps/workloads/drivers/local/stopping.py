"""The `stop` link: how the platform asks a shim to end its workload, without needing the shim to answer."""

import os
import time
from collections.abc import Callable
from pathlib import Path
from uuid import uuid4


def ask(path: Path, grace_s: float) -> None:
    """Asks, or asks again. Repeating never lengthens the grace that was given first. Raises OSError.

    The grace is the target of a link: unlike a file's content, that needs no free block on a full disk.
    """
    temporary = path.with_name(f"{path.name}.{uuid4().hex}")
    os.symlink(repr(max(0.0, grace_s)), temporary)
    os.rename(temporary, path)


class StopFile:
    """The shim's side. The grace counts from when the shim saw the request, on its own clock."""

    def __init__(self, path: Path, clock: Callable[[], float] = time.monotonic) -> None:
        self._path = path
        self._clock = clock
        self._seen: tuple[int, int] | None = None
        self._deadline: float | None = None

    def is_asked(self) -> bool:
        """Looks at the file. True from the first request on."""
        try:
            stat = os.lstat(self._path)
        except FileNotFoundError:
            return self._deadline is not None
        version = (stat.st_ino, stat.st_mtime_ns)
        if version != self._seen:
            self._seen = version
            self._shorten(self._clock() + _grace(self._path))
        return True

    def is_due(self) -> bool:
        """Whether the grace is over."""
        return self._deadline is not None and self._clock() >= self._deadline

    def _shorten(self, deadline: float) -> None:
        self._deadline = deadline if self._deadline is None else min(self._deadline, deadline)


def _grace(path: Path) -> float:
    try:
        return float(os.readlink(path))
    except (OSError, ValueError):
        return 0.0
