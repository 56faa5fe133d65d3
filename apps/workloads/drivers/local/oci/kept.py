"""Which images this machine keeps in `saved/`, and their end: the platform says what nobody names any more.

A run may be saved as an image that is there already, and its row is written a moment later. So whoever saves renews
the layout's time, whoever removes looks at it, and both hold `saved/lock` while they do. Standard library only.
"""

import fcntl
import os
import re
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from uuid import uuid4

from apps.workloads.drivers.local.linux import is_locked, remove_tree

FOLDER, LOCK = "saved", "lock"
DRAFT_S = 86_400.0
"""A draft or the state of a sending that nobody has touched for so long is of a process that died."""
_LAYOUT = re.compile(r"[0-9a-f]{64}", re.ASCII)


def keep(draft: Path, final: Path) -> None:
    """Put what was written to where it is kept, or renew what is there already. Raises OSError."""
    with _locked(final.parent):
        if final.exists():
            os.utime(final)
        else:
            draft.rename(final)
            os.utime(final)


def digests(home: Path, older_than_s: float) -> list[str]:
    """Of images that were saved, and not saved again, for so long. Raises OSError."""
    found = [path for path in _entries(home) if _LAYOUT.fullmatch(path.name)]
    return sorted(f"sha256:{path.name}" for path in found if _age(path) >= older_than_s)


def drop(home: Path, digest: str, older_than_s: float) -> bool:
    """Remove it unless it is being sent, or was saved anew meanwhile. Whether it is gone. Raises OSError."""
    name = digest.removeprefix("sha256:")
    layout = home / FOLDER / name
    if not _LAYOUT.fullmatch(name) or not layout.is_dir():
        return True
    gone = layout.with_name(f".gone-{uuid4().hex}")
    with _locked(layout.parent):
        if _age(layout) < older_than_s or any(map(_is_held, layout.parent.glob(f"{name}.*.push/{LOCK}"))):
            return False
        layout.rename(gone)
    remove_tree(gone)
    return True


def clear_up(home: Path) -> None:
    """What processes that died left there: drafts, removals, states of sendings. Raises OSError."""
    for path in _entries(home):
        is_old = _age(path) > DRAFT_S
        is_draft = path.name.startswith(".new-") or (path.name.endswith(".push") and not _is_held(path / LOCK))
        if path.name.startswith(".gone-") or (is_old and is_draft):
            remove_tree(path)


def _entries(home: Path) -> list[Path]:
    folder = home / FOLDER
    return list(folder.iterdir()) if folder.is_dir() else []


def _age(path: Path) -> float:
    try:
        return time.time() - path.stat().st_mtime
    except FileNotFoundError:
        return -1.0


def _is_held(lock: Path) -> bool:
    try:
        return is_locked(lock)
    except FileNotFoundError:
        return False


@contextmanager
def _locked(folder: Path) -> Iterator[None]:
    with open(folder / LOCK, "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield
