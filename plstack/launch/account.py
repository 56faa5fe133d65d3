"""The accounts of the embedded servers: when root starts them, each runs under a user id of its own.

Not as `nobody`: many daemons may run under that name, and each could enter the servers' folders.
"""

import hashlib
import os
import pwd
import stat
import tempfile
from dataclasses import dataclass
from enum import IntEnum
from functools import cache
from pathlib import Path

from plstack.launch.report import Trouble

# First ids of pairs that distributions, /etc/subuid and tenants leave alone; the second ones exist in containers too.
RANGES = (range(70_000, 100_000, 2), range(60_706, 61_182, 2))
# Accounts under which earlier versions ran both servers, by preference; in a container initdb may still need one.
FORMER = ("nobody", "daemon")
# For the servers' data if the home is below a folder that their account may not enter, such as /root.
OUTSIDE = Path("/var/lib/plstack")
# A Unix socket's path holds 107 bytes; Postgres appends "/.s.PGSQL.5432.lock" to the folder's name.
LONGEST_SOCKET_FOLDER = 107 - 20


class Service(IntEnum):
    """The embedded servers; the value is the offset in a home's pair of ids."""

    POSTGRES = 0
    REDIS = 1


@dataclass(frozen=True, slots=True)
class Account:
    """The account of an embedded server: the current user unless that is root."""

    uid: int
    gid: int


def server_account(home: Path, service: Service) -> Account:
    """The current user, or for root an id of the service's own, derived from the home's path.

    Raises Trouble if all ids are taken.
    """
    if os.geteuid() != 0:
        return Account(os.geteuid(), os.getegid())
    number = int(hashlib.sha256(os.fsencode(home)).hexdigest(), 16)
    for pairs in RANGES:
        for step in range(len(pairs)):
            uid = pairs[(number + step) % len(pairs)]
            if all(_is_free(uid + one) for one in Service):
                return Account(uid + service, uid + service)
    raise Trouble("no user id is free for the embedded servers: start as an ordinary user")


def former_account() -> Account | None:
    """The account under which earlier versions ran the servers for root."""
    for name in FORMER:
        try:
            entry = pwd.getpwnam(name)
        except KeyError:
            continue
        if entry.pw_uid != 0:
            return Account(entry.pw_uid, entry.pw_gid)
    return None


def _is_free(uid: int) -> bool:
    """Whether the id is valid here and belongs neither to an account of the machine nor to its subordinate ids."""
    try:
        pwd.getpwuid(uid)
    except KeyError:
        handed_out = [(int(first), int(count)) for _name, first, count in _table("/etc/subuid", ":")]
        mapped = [(int(first), int(count)) for first, _outside, count in _table("/proc/self/uid_map")]
        return _is_in(uid, mapped) and not _is_in(uid, handed_out)
    return False


def _is_in(uid: int, parts: list[tuple[int, int]]) -> bool:
    return any(first <= uid < first + count for first, count in parts)


@cache
def _table(path: str, separator: str | None = None) -> list[list[str]]:
    """The lines with three fields of a file; empty if it does not exist."""
    try:
        lines = Path(path).read_text().splitlines()
    except OSError:
        return []
    return [fields for fields in (line.split(separator) for line in lines) if len(fields) == 3]


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
    """The folder for the embedded servers' data: `home`, unless their account cannot reach it (/root)."""
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
    if status.st_uid != account.uid and stat.S_ISDIR(status.st_mode) and _was_ours(status.st_uid):
        change_owner(path, account)
        status = path.lstat()
    if not stat.S_ISDIR(status.st_mode) or status.st_uid != account.uid:
        raise Trouble(f"{path} does not belong to the account of the embedded servers: move it away")
    path.chmod(0o700)
    return path


def _was_ours(uid: int) -> bool:
    """Whether an embedded server of an earlier start, perhaps of an earlier version, ran under this id."""
    former = former_account()
    ours = any(uid in range(pairs.start, pairs.stop) for pairs in RANGES)
    return os.geteuid() == 0 and (ours or (former is not None and uid == former.uid))


def change_owner(path: Path, account: Account) -> None:
    """Make the account the owner of the folder and everything below. Nobody else may write there meanwhile."""
    os.lchown(path, account.uid, account.gid)
    for _, folders, files, parent in os.fwalk(path, follow_symlinks=False):
        for name in [*folders, *files]:
            os.chown(name, account.uid, account.gid, dir_fd=parent, follow_symlinks=False)


def socket_folder(base: Path, name: str, account: Account) -> Path:
    """A private folder for sockets, in `base`, or with a short path if that one is too long for a socket."""
    folder = base / name
    if len(os.fsencode(folder)) > LONGEST_SOCKET_FOLDER:
        runtime = (
            Path("/run") if os.geteuid() == 0 else Path(os.environ.get("XDG_RUNTIME_DIR") or tempfile.gettempdir())
        )
        folder = runtime / f"plstack-{account.uid}-{_short_name(base)}"
    return private_folder(folder, account)


def _short_name(path: Path) -> str:
    return hashlib.sha256(os.fsencode(path)).hexdigest()[:12]
