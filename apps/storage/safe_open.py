"""Open files safely below a folder that other people's programs write to.

Every step of a path is opened relative to the one before and follows no link, so that nothing that a workload plants (a
link, a swap during a check, a pipe) leads out of the folder or makes us wait.

Reading goes through `open_regular`. New content goes through `replacing`: a file of its own that is renamed into place
when it is whole, so that a name which a program has taken meanwhile is never opened at all.
"""

import errno
import os
import re
import stat
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path, PurePosixPath
from uuid import uuid4

from django.utils.translation import gettext_lazy as _

from apps.common.errors import Conflict, Invalid, NotFound

MAX_PATH = 1024
MAX_NAME = 255
# Programs may nest folders without end; each level costs an open on the way to it.
MAX_DEPTH = 500
HIDDEN = ".plstack-"  # files that are being written; renamed into place when whole
SAFE = os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
FOLDER = os.O_RDONLY | os.O_DIRECTORY | SAFE
DRIVE = re.compile(r"[A-Za-z]:")


class TooDeep(Invalid):
    """Folders nested deeper than `MAX_DEPTH`."""

    code = "too_deep"

    def __init__(self) -> None:
        super().__init__(_("Folders are nested more than %(count)s deep.") % {"count": MAX_DEPTH})


@dataclass(frozen=True, slots=True)
class Item:
    """One entry of a folder; `size` in bytes, 0 for folders."""

    name: str
    path: str
    is_folder: bool
    size: int
    modified: datetime


def split_path(path: str) -> tuple[str, ...]:
    """The names along a relative path; `Invalid` for anything that could leave its folder or that no disk stores."""
    cleaned = path.replace("\\", "/")
    if len(cleaned) > MAX_PATH or "\0" in cleaned or cleaned.startswith("/") or DRIVE.match(cleaned):
        raise Invalid.field("path", _("This is not a path inside the folder."))
    names = tuple(name for name in PurePosixPath(cleaned).parts if name != ".")
    if any(name == ".." or len(name.encode()) > MAX_NAME or not name.isprintable() for name in names):
        raise Invalid.field("path", _("This is not a path inside the folder."))
    return names


@contextmanager
def open_folder(root: Path, path: str, *, create: bool = False) -> Iterator[int]:
    """An open descriptor of the folder `path` below `root`; `NotFound` if there is none."""
    with open_folder_by_names(root, split_path(path), create=create) as descriptor:
        yield descriptor


@contextmanager
def open_folder_by_names(root: Path, names: Sequence[str], *, create: bool = False) -> Iterator[int]:
    """Like `open_folder`, for names that a walk found: they need not be ones that people may choose.

    Raises `NotFound`, `TooDeep`.
    """
    if len(names) > MAX_DEPTH:
        raise TooDeep
    try:
        descriptor = os.open(root, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    except FileNotFoundError as error:
        raise NotFound from error
    try:
        for name in names:
            descriptor = _enter(descriptor, name, create)
        yield descriptor
    finally:
        os.close(descriptor)


def _enter(parent: int, name: str, create: bool) -> int:
    """Open a child folder and close its parent on success."""
    if create:
        with suppress(FileExistsError):
            make_folder(parent, name)
    try:
        child = os.open(name, FOLDER, dir_fd=parent)
    except OSError as error:
        raise NotFound from error
    os.close(parent)
    return child


def make_folder(parent: int, name: str) -> None:
    """A new folder in the open folder `parent`, owned as that one is. Raises FileExistsError."""
    os.mkdir(name, 0o755, dir_fd=parent)
    copy_owner(parent, name)


def copy_owner(parent: int, name: str) -> None:
    """Give a new entry to its folder's owner, whose programs must be able to change it; only root can, and needs to."""
    owner = os.fstat(parent)
    if os.geteuid() == 0 and owner.st_uid != 0:
        os.chown(name, owner.st_uid, owner.st_gid, dir_fd=parent, follow_symlinks=False)


def open_file(root: Path, path: str) -> int:
    """A read-only descriptor of a regular file; `NotFound` for links, pipes, folders and what does not exist."""
    return open_file_by_names(root, split_path(path))


def open_file_by_names(root: Path, names: Sequence[str]) -> int:
    """Like `open_file`, for names that a walk found."""
    *folders, name = names or ("",)
    with open_folder_by_names(root, folders) as parent:
        try:
            return open_regular(parent, name)
        except OSError as error:
            raise NotFound from error


def open_regular(parent: int, name: str, flags: int = os.O_RDONLY, mode: int = 0o600) -> int:
    """A descriptor of a regular file in an open folder; with `flags` for writing, of one that has no other name.

    Never waits and follows no link. `flags` must not contain O_TRUNC, which would empty a file before it is checked.
    Raises OSError: EINVAL for pipes, sockets, devices and folders, EMLINK for a file to be written that has more names.
    """
    if flags & os.O_TRUNC:
        raise ValueError("a file is not emptied before it is known to be one")
    descriptor = os.open(name, flags | SAFE, mode, dir_fd=parent)
    status = os.fstat(descriptor)
    code = 0 if stat.S_ISREG(status.st_mode) else errno.EINVAL
    if not code and flags & os.O_ACCMODE != os.O_RDONLY and status.st_nlink > 1:
        code = errno.EMLINK
    if code:
        os.close(descriptor)
        raise OSError(code, os.strerror(code), name)
    return descriptor


@contextmanager
def writing(root: Path, path: str, *, mode: int = 0o644) -> Iterator[int]:
    """Like `replacing`, at a path below `root`, creating its folders. Raises `Invalid`, `Conflict`."""
    *folders, name = split_path(path) or ("",)
    if not name:
        raise Invalid.field("path", _("A file needs a name."))
    with open_folder(root, "/".join(folders), create=True) as parent, replacing(parent, name, mode=mode) as descriptor:
        yield descriptor


def make_link(root: Path, path: str, target: str) -> None:
    """A symbolic link at a path below `root`, creating its folders. Who calls says where it may lead.

    Raises `Invalid`, `Conflict`.
    """
    *folders, name = split_path(path) or ("",)
    if not name:
        raise Invalid.field("path", _("A file needs a name."))
    with open_folder(root, "/".join(folders), create=True) as parent:
        try:
            os.symlink(target, name, dir_fd=parent)
        except FileExistsError as error:
            raise Conflict(_("Something else of this name is there already.")) from error


@contextmanager
def replacing(parent: int, name: str, *, mode: int = 0o644, owner: int | None = None) -> Iterator[int]:
    """A write-only descriptor of a new file that takes the place of `name` in an open folder once the block ends.

    Readers see the old file or the new one, never half of one; an error leaves nothing behind. It belongs to whom the
    open folder `owner` belongs to (`parent` by default). Raises `Conflict` where `name` is no regular file.
    """
    _refuse_special(parent, name)
    part = f"{HIDDEN}{uuid4().hex}"
    descriptor = open_regular(parent, part, os.O_WRONLY | os.O_CREAT | os.O_EXCL)
    try:
        yield descriptor
        os.fchmod(descriptor, mode & 0o777)
        copy_owner_of_open(descriptor, parent if owner is None else owner)
        os.rename(part, name, src_dir_fd=parent, dst_dir_fd=parent)
    except BaseException:
        with suppress(FileNotFoundError):
            os.unlink(part, dir_fd=parent)
        raise
    finally:
        os.close(descriptor)


def _refuse_special(parent: int, name: str) -> None:
    with suppress(FileNotFoundError):
        if not stat.S_ISREG(os.stat(name, dir_fd=parent, follow_symlinks=False).st_mode):
            raise Conflict(_("Something else of this name is there already."))


def copy_owner_of_open(descriptor: int, folder: int) -> None:
    """Like `copy_owner`, for an open file, so that its name cannot be swapped in between."""
    owner = os.fstat(folder)
    if os.geteuid() == 0 and owner.st_uid != 0:
        os.fchown(descriptor, owner.st_uid, owner.st_gid)


@dataclass(frozen=True, slots=True)
class WalkedEntry:
    """An entry of a walk. `names` lead to its folder, which is open as `parent` until the next entry is requested."""

    parent: int
    names: tuple[str, ...]
    name: str
    status: os.stat_result

    @property
    def is_folder(self) -> bool:
        return stat.S_ISDIR(self.status.st_mode)

    @property
    def is_file(self) -> bool:
        return stat.S_ISREG(self.status.st_mode)


def walk(root: Path, names: tuple[str, ...] = ()) -> Iterator[WalkedEntry]:
    """Walk everything below a folder, folders before their contents, without following links; skips what vanishes.

    One folder is open at a time and nothing recurses: neither depth nor width of a hostile tree exhausts descriptors or
    the stack. Raises `NotFound` if the first folder is missing, and `TooDeep`.
    """
    waiting = [names]
    while waiting:
        current = waiting.pop()
        try:
            with open_folder_by_names(root, current) as parent:
                for found in _entries(parent, current):
                    if found.is_folder:
                        waiting.append((*current, found.name))
                    yield found
        except NotFound:
            if current == names:
                raise


def _entries(parent: int, names: tuple[str, ...]) -> Iterator[WalkedEntry]:
    with os.scandir(parent) as entries:
        for entry in entries:
            with suppress(FileNotFoundError):  # removed while we look
                yield WalkedEntry(parent, names, entry.name, os.stat(entry.name, dir_fd=parent, follow_symlinks=False))


def list_folder(root: Path, path: str = "") -> list[Item]:
    """Folders first, then files, by name; links and special files are not shown."""
    found = []
    with open_folder(root, path) as parent:
        for name in os.listdir(parent):
            with suppress(FileNotFoundError):  # removed while we look
                status = os.stat(name, dir_fd=parent, follow_symlinks=False)
                if stat.S_ISDIR(status.st_mode) or stat.S_ISREG(status.st_mode):
                    found.append(_item(path, name, status))
    return sorted(found, key=lambda item: (not item.is_folder, item.name.lower()))


def _item(folder: str, name: str, status: os.stat_result) -> Item:
    is_folder = stat.S_ISDIR(status.st_mode)
    return Item(
        name=name,
        path="/".join((*split_path(folder), name)),
        is_folder=is_folder,
        size=0 if is_folder else status.st_size,
        modified=datetime.fromtimestamp(status.st_mtime, UTC),
    )
