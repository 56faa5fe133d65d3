"""Giving way: the notice that a program finds, and the checkpoints that it leaves.

Only durations cross between this machine and the platform: neither needs to trust the other's clock.
"""

import json
import os
import stat
import time
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

from apps.workloads.drivers.base import Observation
from apps.workloads.drivers.capabilities import Notice
from apps.workloads.drivers.local.environment import CHECKPOINTS, NOTICE_FILE, is_inside
from apps.workloads.drivers.local.linux import write_atomic
from apps.workloads.drivers.local.records import RunDirectory, RunSpec, decode_spec

# A later look may find the moment to differ by this much without the file being written anew.
SAME_S = 2.0
# Folders of checkpoints are small; what is beyond is not looked at, so that nobody can keep the platform busy.
MAX_ENTRIES = 2000
MAX_DEPTH = 4


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


def checkpoint_folder(spec: RunSpec) -> Path | None:
    """The folder on this machine that $PLSTACK_CHECKPOINTS names, where it lies in a mount that may be written to."""
    inside = os.path.normpath(spec.request.env.get(CHECKPOINTS, ""))
    for mount in spec.mounts:
        if not mount.read_only and is_inside(inside, mount.target):
            return Path(mount.source, os.path.relpath(inside, mount.target))
    return None


def newest_age_s(folder: Path, now: float | None = None) -> float | None:
    """Seconds since the newest file below `folder` came to be what it is; None without any. Never below zero.

    By the inode's change time: a program may set the other times to whatever it likes, this one the system keeps.
    """
    now = time.time() if now is None else now
    newest = max(_changes(folder, MAX_DEPTH, [MAX_ENTRIES]), default=None)
    return None if newest is None else max(0.0, now - newest)


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
