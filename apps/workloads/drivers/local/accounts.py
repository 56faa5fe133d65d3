"""User ids of tenants on this machine, so that a workload owns nothing of the platform's or of another tenant's."""

import fcntl
import json
import os
import pwd
from pathlib import Path
from uuid import UUID

from apps.workloads.drivers.local.linux import write_atomic

FIRST_UID = 210_000


def uid_of(tenant: UUID, registry: Path) -> int:
    """The tenant's user and group id, the same for ever; allocated on first use. Raises OSError."""
    with open(registry.with_suffix(".lock"), "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        known: dict[str, int] = json.loads(registry.read_text()) if registry.exists() else {}
        if str(tenant) not in known:
            known[str(tenant)] = _next_free(known)
            write_atomic(registry, json.dumps(known).encode())
        return known[str(tenant)]


def adopt(tenant: UUID, uid: int, registry: Path) -> None:
    """Use the id that the platform gave this tenant: machines that share files share user ids. Raises OSError.

    Raises ValueError where the id or the tenant is known here as another.
    """
    with open(registry.with_suffix(".lock"), "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        known: dict[str, int] = json.loads(registry.read_text()) if registry.exists() else {}
        if known.get(str(tenant)) == uid:
            return
        if str(tenant) in known or uid in known.values() or _is_taken(uid) or uid < FIRST_UID:
            raise ValueError("The tenant's user id belongs to somebody else on this machine")
        write_atomic(registry, json.dumps({**known, str(tenant): uid}).encode())


def _next_free(known: dict[str, int]) -> int:
    uid = max(known.values(), default=FIRST_UID - 1) + 1
    while _is_taken(uid):
        uid += 1
    return uid


def _is_taken(uid: int) -> bool:
    try:
        pwd.getpwuid(uid)
    except KeyError:
        return False
    return True


def give(path: Path, uid: int) -> None:
    """Makes `uid` own `path` and everything below. Links are not followed and other file systems not entered."""
    os.lchown(path, uid, uid)
    if not path.is_dir():
        return
    device = path.lstat().st_dev
    for _, directories, files, parent in os.fwalk(path, follow_symlinks=False):
        for name in [*directories, *files]:
            entry = os.stat(name, dir_fd=parent, follow_symlinks=False)
            if entry.st_dev != device:
                directories[:] = [other for other in directories if other != name]
            elif entry.st_uid != uid:
                os.chown(name, uid, uid, dir_fd=parent, follow_symlinks=False)
