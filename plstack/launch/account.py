"""The account of the embedded servers: Postgres refuses to run as root, so root starts it as nobody."""

import hashlib
import os
import pwd
import stat
import tempfile
from dataclasses import dataclass
from pathlib import Path

from plstack.launch.report import Trouble

CANDIDATES = ("nobody", "daemon")
# For the servers' data of a home under a folder like /root, which their account may not enter.
OUTSIDE = Path("/var/lib/plstack")
# A Unix socket's path holds 107 bytes; Postgres appends "/.s.PGSQL.5432.lock" to the folder's name.
LONGEST_SOCKET_FOLDER = 107 - 20


@dataclass(frozen=True, slots=True)
class Account:
    """Who runs the embedded servers; equal to the current user unless that is root."""

    uid: int
    gid: int


def server_account() -> Account:
    """The current user, or for root an unprivileged system account. Raises Trouble where there is none."""
    if os.geteuid() != 0:
        return Account(os.geteuid(), os.getegid())
    for name in CANDIDATES:
        try:
            entry = pwd.getpwnam(name)
        except KeyError:
            continue
        if entry.pw_uid != 0:
            return Account(entry.pw_uid, entry.pw_gid)
    raise Trouble("Postgres does not run as root and there is no account 'nobody': start as an ordinary user")


def can_reach(path: Path, account: Account) -> bool:
    """Whether the account may search every folder on the way to `path` (the folder itself included if it exists)."""
    if account.uid == os.geteuid():
        return True
    return all(_may_search(folder.stat(), account) for folder in [path, *path.parents] if folder.is_dir())


def _may_search(status: os.stat_result, account: Account) -> bool:
    if status.st_uid == account.uid:
        return bool(status.st_mode & stat.S_IXUSR)
    if status.st_gid == account.gid:
        return bool(status.st_mode & stat.S_IXGRP)
    return bool(status.st_mode & stat.S_IXOTH)


def server_home(home: Path, account: Account) -> Path:
    """Where the embedded servers keep their data: `home`, unless it lies where their account cannot go (/root)."""
    if can_reach(home, account):
        return home
    OUTSIDE.mkdir(mode=0o755, parents=True, exist_ok=True)
    own = OUTSIDE / _short_name(home)
    own.mkdir(mode=0o755, exist_ok=True)
    (own / "belongs-to").write_text(f"{home}\n")
    return own


def private_folder(path: Path, account: Account) -> Path:
    """Make a folder of mode 0700 that belongs to the account, or check that it is one. Raises Trouble otherwise."""
    if not path.exists():
        path.mkdir(mode=0o700, parents=True)
        os.chown(path, account.uid, account.gid)
    status = path.lstat()
    if not stat.S_ISDIR(status.st_mode) or status.st_uid != account.uid:
        raise Trouble(f"{path} does not belong to the account of the embedded servers: move it away")
    path.chmod(0o700)
    return path


def socket_folder(base: Path, account: Account) -> Path:
    """A private folder for sockets, in `base` or, where that path is too long for a socket, in a short one."""
    folder = base / "sockets"
    if len(os.fsencode(folder)) > LONGEST_SOCKET_FOLDER:
        runtime = (
            Path("/run") if os.geteuid() == 0 else Path(os.environ.get("XDG_RUNTIME_DIR") or tempfile.gettempdir())
        )
        folder = runtime / f"plstack-{account.uid}-{_short_name(base)}"
    return private_folder(folder, account)


def _short_name(path: Path) -> str:
    return hashlib.sha256(os.fsencode(path)).hexdigest()[:12]
