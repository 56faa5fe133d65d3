"""Files open for writing over SFTP; each byte counts against the limit of its volume or home."""

import errno
import os
import stat
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from uuid import UUID

from apps.common.actor import system_actor
from apps.common.errors import QuotaExceeded, Unavailable
from apps.common.scoping import acting
from apps.envs.ssh.namespace import Spot, opened_parent, require_writable
from apps.storage.operations import rename_new
from apps.storage.roots import Root, row_of
from apps.storage.safe_open import copy_owner, copy_owner_of_open, make_folder, open_regular
from apps.storage.usage import Budget, write_budget

PERMISSIONS = 0o777


class LimitReached(OSError):
    """The limit is reached; the text says how much would fit."""

    def __init__(self, text: str) -> None:
        super().__init__(errno.ENOSPC, text)
        self.text = text


@dataclass(slots=True)
class WriteBudget:
    """The budget of one root, shared by all files that a session has open in it. Used from several threads."""

    root: Root
    lock: threading.Lock = field(default_factory=threading.Lock)
    budget: Budget | None = None

    def take(self, count: int, entries: int = 0) -> None:
        """Raises `LimitReached`."""
        with self.lock, acting(system_actor()):
            self.budget = self.budget or write_budget(row_of(self.root))
            try:
                self.budget.take(count, entries)
            except (QuotaExceeded, Unavailable) as error:
                raise LimitReached(str(error.message)) from error

    def give(self, count: int, entries: int = 0) -> None:
        """Release it at once, for others who write there."""
        if count > 0 or entries > 0:
            with acting(system_actor()), write_budget(row_of(self.root)) as budget:
                budget.give(max(0, count), entries)

    def settle(self) -> None:
        """Return what was reserved ahead and not written."""
        with self.lock, acting(system_actor()):
            if self.budget is not None:
                self.budget.__exit__(None, None, None)
                self.budget = None


@dataclass(slots=True)
class OpenFile:
    """`root_id`: the tree that it was opened in. `account` None: open for reading only.

    `append`: each write goes to the end, wherever the client says.
    """

    descriptor: int
    root_id: UUID
    account: WriteBudget | None
    append: bool = False
    lock: threading.Lock = field(default_factory=threading.Lock)

    def read(self, offset: int, size: int) -> bytes:
        return os.pread(self.descriptor, size, offset)

    def write(self, offset: int, data: bytes) -> int:
        """Raises `LimitReached`; then nothing of `data` is written."""
        if self.account is None:
            raise OSError(errno.EBADF, os.strerror(errno.EBADF))
        with self.lock:  # of two writes that make the file longer, each counts its own part
            size = os.fstat(self.descriptor).st_size
            at = size if self.append else offset
            grown = max(0, at + len(data) - max(size, at))
            if grown:
                self.account.take(grown)
            view = memoryview(data)
            while view:
                written = os.pwrite(self.descriptor, view, at + len(data) - len(view))
                view = view[written:]
        return len(data)

    def resize(self, size: int) -> None:
        """Raises `LimitReached`. A longer file has a hole, which is counted as if it were written."""
        if self.account is None:
            raise OSError(errno.EBADF, os.strerror(errno.EBADF))
        with self.lock:
            before = os.fstat(self.descriptor).st_size
            if size > before:
                self.account.take(size - before)
            os.ftruncate(self.descriptor, size)
        self.account.give(before - size)

    def close(self) -> None:
        os.close(self.descriptor)


def open_file(spot: Spot, flags: int, mode: int, account: WriteBudget) -> OpenFile:
    """A regular file. `flags`: those of os.open. Raises OSError."""
    writes = flags & os.O_ACCMODE != os.O_RDONLY
    if writes or flags & (os.O_CREAT | os.O_TRUNC):
        require_writable(spot)
    append, empty = bool(flags & os.O_APPEND), bool(flags & os.O_TRUNC)
    flags &= ~(os.O_APPEND | os.O_TRUNC)
    with opened_parent(spot) as (parent, name):
        descriptor, made = _open(parent, name, flags, mode & PERMISSIONS, account)
        if made:
            copy_owner_of_open(descriptor, parent)
    file = OpenFile(descriptor, spot.place.root.id, account if writes else None, append)
    try:
        if empty and writes and not made:
            file.resize(0)
    except OSError:
        file.close()
        raise
    return file


def _open(parent: int, name: str, flags: int, mode: int, account: WriteBudget) -> tuple[int, bool]:
    """The descriptor, and whether the file was created: only then is it counted and given to the tenant's user id."""
    if flags & os.O_CREAT and not _exists(parent, name):
        account.take(0, 1)
        try:
            return open_regular(parent, name, flags | os.O_EXCL, mode), True
        except OSError as error:
            account.give(0, 1)
            if flags & os.O_EXCL or not isinstance(error, FileExistsError):
                raise
    if flags & os.O_CREAT and flags & os.O_EXCL:
        raise FileExistsError(errno.EEXIST, os.strerror(errno.EEXIST), name)
    try:
        return open_regular(parent, name, flags & ~os.O_CREAT), False
    except OSError as error:
        raise _REFUSED.get(error.errno or 0, error) from error


_REFUSED = {
    errno.EINVAL: OSError(errno.EACCES, "Not a regular file"),
    errno.EMLINK: OSError(errno.EACCES, "The file has several names (hard links): remove it first, then write it anew"),
}


def _exists(parent: int, name: str) -> bool:
    try:
        os.stat(name, dir_fd=parent, follow_symlinks=False)
    except FileNotFoundError:
        return False
    return True


def remove(spot: Spot, account: WriteBudget) -> None:
    """One file or link. Raises OSError; IsADirectoryError for a folder."""
    require_writable(spot)
    with opened_parent(spot) as (parent, name):
        status = os.stat(name, dir_fd=parent, follow_symlinks=False)
        os.unlink(name, dir_fd=parent)
    counted = stat.S_ISREG(status.st_mode) and status.st_nlink == 1
    account.give(min(status.st_size, status.st_blocks * 512) if counted else 0, 1)


def create_folder(spot: Spot, account: WriteBudget) -> None:
    """Raises OSError, `LimitReached`."""
    require_writable(spot)
    with _counted(account), opened_parent(spot) as (parent, name):
        make_folder(parent, name)


@contextmanager
def _counted(account: WriteBudget) -> Iterator[None]:
    """Count one more entry, unless it is not created."""
    account.take(0, 1)
    try:
        yield
    except OSError:
        account.give(0, 1)
        raise


def remove_folder(spot: Spot, account: WriteBudget) -> None:
    """An empty one. Raises OSError."""
    require_writable(spot)
    with opened_parent(spot) as (parent, name):
        os.rmdir(name, dir_fd=parent)
    account.give(0, 1)


def rename(old: Spot, new: Spot, account: WriteBudget, *, replace: bool) -> None:
    """Within one place: between two, EXDEV makes clients copy, which counts what arrives."""
    require_writable(old)
    require_writable(new)
    if old.place != new.place:
        raise OSError(errno.EXDEV, os.strerror(errno.EXDEV))
    with opened_parent(old) as (source, name), opened_parent(new) as (target, wanted):
        if not replace:
            return rename_new(source, name, target, wanted)
        freed = _size(target, wanted)
        os.rename(name, wanted, src_dir_fd=source, dst_dir_fd=target)
    account.give(freed)
    return None


def _size(parent: int, name: str) -> int:
    """Bytes that go with a file when another takes its name."""
    try:
        status = os.stat(name, dir_fd=parent, follow_symlinks=False)
    except FileNotFoundError:
        return 0
    counted = stat.S_ISREG(status.st_mode) and status.st_nlink == 1
    return min(status.st_size, status.st_blocks * 512) if counted else 0


def link(spot: Spot, text: str, account: WriteBudget) -> None:
    """A symbolic link; nothing of the platform ever follows it."""
    require_writable(spot)
    with _counted(account), opened_parent(spot) as (parent, name):
        os.symlink(text, name, dir_fd=parent)
        copy_owner(parent, name)


def set_mode(descriptor: int, mode: int) -> None:
    """Permissions only: no set-user-id and the like from outside."""
    os.fchmod(descriptor, mode & PERMISSIONS)
