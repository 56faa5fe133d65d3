"""Giving way: the notice that a program finds, and the checkpoints that it leaves.

Only durations cross between this machine and the platform: neither needs to trust the other's clock.
"""

import errno
import json
import os
import stat
import threading
import time
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

from apps.workloads.drivers.base import Observation
from apps.workloads.drivers.local.environment import CHECKPOINTS, NOTICE_FILE, is_inside
from apps.workloads.drivers.local.linux import write_atomic
from apps.workloads.drivers.local.records import RunDirectory, RunSpec, decode_spec
from apps.workloads.drivers.local.volumes import HostMount
from apps.workloads.drivers.notices import Notice

# A later look may find the moment to differ by this much without the file being written anew.
SAME_S = 2.0
# Folders of checkpoints are small; what is beyond is not looked at, so that nobody can keep the platform busy.
MAX_ENTRIES = 2000
MAX_DEPTH = 4
LOOK_S, WAIT_S = 1.0, 1.0


def tell(run: RunDirectory, notice: Notice | None, now: float | None = None) -> None:
    """Leaves the notice where the program finds it, or takes it away (None). Repeated: nothing. Raises OSError.

    `leave_at` in the file is in Unix seconds of this machine's clock, `leave_in_s` the seconds left as it was written.
    """
    now = time.time() if now is None else now
    path = run.notice / NOTICE_FILE
    if notice is None:
        with suppress(FileNotFoundError):
            path.unlink()
        return
    if not run.notice.is_dir() or _says(path, notice, now):
        return
    content = {
        "reason": notice.reason,
        "leave_in_s": round(notice.leave_in_s, 1),
        "leave_at": round(now + notice.leave_in_s, 1),
        "save_s": notice.save_s,
    }
    write_atomic(path, json.dumps(content).encode(), durable=False)
    path.chmod(0o644)


def _says(path: Path, notice: Notice, now: float) -> bool:
    try:
        known = json.loads(path.read_bytes())
        moved = abs(float(known["leave_at"]) - now - notice.leave_in_s)
    except (OSError, ValueError, KeyError, TypeError):
        return False
    return moved < SAME_S and known.get("reason") == notice.reason


def with_checkpoint(run: RunDirectory, seen: Observation) -> Observation:
    """What was seen, with the age of the newest checkpoint. Also after the end: saving may be the last thing done."""
    if seen.ran_for_s is None or not run.spec.exists():
        return seen
    folder = checkpoint_folder(decode_spec(run.spec.read_bytes()))
    age = newest_age_s(folder) if folder is not None else None
    return seen if age is None else replace(seen, checkpoint_age_s=age)


class CheckpointAge:
    """The same for the shim, which is asked by several at a time: it looks at most every second.

    Should the storage hang, one look hangs with it; the others go on with what was known before.
    """

    def __init__(self, spec: RunSpec) -> None:
        self._folder = checkpoint_folder(spec)
        self._lock = threading.Lock()
        self._newest: float | None = None
        self._looked_at: float | None = None

    def with_checkpoint(self, seen: Observation) -> Observation:
        if seen.ran_for_s is None or self._folder is None:
            return seen
        if self._lock.acquire(timeout=WAIT_S):
            try:
                self._look(self._folder, is_over=seen.phase.is_final)
            finally:
                self._lock.release()
        newest = self._newest
        return seen if newest is None else replace(seen, checkpoint_age_s=max(0.0, time.time() - newest))

    def _look(self, folder: Path, is_over: bool) -> None:
        """After the end always: saving may be the last thing done."""
        now = time.monotonic()
        if is_over or self._looked_at is None or now - self._looked_at >= LOOK_S:
            self._newest, self._looked_at = newest_at(folder), now


def make_checkpoint_folder(spec: RunSpec) -> None:
    """The folder is there as the program starts. One that begins as a copy is the copy's to make. Raises OSError.

    The mount is the program's: links that an earlier attempt left in it may lead anywhere, and are left alone.
    """
    inside, mount = _checkpoint_place(spec)
    if mount is None or any(is_inside(inside, copy.target) for copy in spec.copies):
        return
    folder = os.open(mount.source, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
    try:
        for name in Path(os.path.relpath(inside, mount.target)).parts:
            with suppress(FileExistsError):
                os.mkdir(name, 0o755, dir_fd=folder)
            below = os.open(name, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW, dir_fd=folder)
            os.close(folder)
            folder = below
    except OSError as error:
        if error.errno not in (errno.ENOTDIR, errno.ELOOP):
            raise
    finally:
        os.close(folder)


def checkpoint_folder(spec: RunSpec) -> Path | None:
    """The folder on this machine that $PLSTACK_CHECKPOINTS names, where it lies in a mount that may be written to."""
    inside, mount = _checkpoint_place(spec)
    return None if mount is None else Path(mount.source, os.path.relpath(inside, mount.target))


def _checkpoint_place(spec: RunSpec) -> tuple[str, HostMount | None]:
    """What the variable names inside, and the mount in which that lies."""
    inside = os.path.normpath(spec.request.env.get(CHECKPOINTS, ""))
    writable = (mount for mount in spec.mounts if not mount.read_only and is_inside(inside, mount.target))
    return inside, next(writable, None)


def newest_age_s(folder: Path, now: float | None = None) -> float | None:
    """Seconds since the newest file below `folder` came to be what it is; None without any. Never below zero."""
    now = time.time() if now is None else now
    newest = newest_at(folder)
    return None if newest is None else max(0.0, now - newest)


def newest_at(folder: Path) -> float | None:
    """By the inode's change time: a program may set the other times to whatever it likes, this one the system keeps."""
    return max(_changes(folder, MAX_DEPTH, [MAX_ENTRIES]), default=None)


def _changes(folder: Path, depth: int, left: list[int]) -> Iterator[float]:
    """Change times of regular files. Links are not followed: they may lead anywhere."""
    if not depth or folder.is_symlink():
        return
    try:
        entries = list(os.scandir(folder))
    except OSError:
        return
    for entry in entries[: left[0]]:
        with suppress(OSError):
            found = entry.stat(follow_symlinks=False)
            if stat.S_ISREG(found.st_mode):
                yield found.st_ctime
            elif stat.S_ISDIR(found.st_mode):
                left[0] -= 1
                yield from _changes(Path(entry.path), depth - 1, left)
    left[0] = max(0, left[0] - len(entries))
