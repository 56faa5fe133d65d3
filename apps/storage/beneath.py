"""Opening files below a folder that other people's programs write to.

Every step of a path is opened relative to the one before and follows no link, so nothing that a workload
plants (a link, a swap while we look, a pipe) leads out of the folder or makes us wait.
"""

import os
import re
import stat
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path, PurePosixPath

from django.utils.translation import gettext_lazy as _

from apps.common.errors import Invalid, NotFound

MAX_PATH = 1024
MAX_NAME = 255
DRIVE = re.compile(r"[A-Za-z]:")


@dataclass(frozen=True, slots=True)
class Item:
    """One entry of a folder; `size` in bytes, 0 for folders."""

    name: str
    path: str
    is_folder: bool
    size: int
    modified: datetime


def parts_of(path: str) -> tuple[str, ...]:
    """The names along a relative path; `Invalid` for anything that could leave its folder or that no disk takes."""
    cleaned = path.replace("\\", "/")
    if len(cleaned) > MAX_PATH or "\0" in cleaned or cleaned.startswith("/") or DRIVE.match(cleaned):
        raise Invalid.field("path", _("This is not a path inside the folder."))
    names = tuple(name for name in PurePosixPath(cleaned).parts if name != ".")
    if any(name == ".." or len(name.encode()) > MAX_NAME or not name.isprintable() for name in names):
        raise Invalid.field("path", _("This is not a path inside the folder."))
    return names


@contextmanager
def folder_beneath(root: Path, path: str, *, create: bool = False) -> Iterator[int]:
    """An open descriptor of the folder `path` below `root`; `NotFound` where there is none."""
    with folder_of_names(root, parts_of(path), create=create) as descriptor:
        yield descriptor


@contextmanager
def folder_of_names(root: Path, names: Sequence[str], *, create: bool = False) -> Iterator[int]:
    """As `folder_beneath`, for names that a walk met: they need not be ones that people may choose."""
    try:
        descriptor = os.open(root, os.O_RDONLY | os.O_DIRECTORY)
    except FileNotFoundError as error:
        raise NotFound from error
    try:
        for name in names:
            descriptor = _enter(descriptor, name, create)
        yield descriptor
    finally:
        os.close(descriptor)


def _enter(parent: int, name: str, create: bool) -> int:
    """The child folder's descriptor in place of its parent's, which is closed on success."""
    if create:
        with suppress(FileExistsError):
            make_folder(parent, name)
    try:
        child = os.open(name, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW, dir_fd=parent)
    except OSError as error:
        raise NotFound from error
    os.close(parent)
    return child


def make_folder(parent: int, name: str) -> None:
    """A new folder in the open folder `parent`, owned as that one is. Raises FileExistsError."""
    os.mkdir(name, 0o755, dir_fd=parent)
    give_like(parent, name)


def give_like(parent: int, name: str) -> None:
    """Let an entry that was just made belong to whom its folder belongs to: the tenant's programs must be able to
    change it. Only a platform that runs as root can, and only it needs to."""
    owner = os.fstat(parent)
    if os.geteuid() == 0 and owner.st_uid != 0:
        os.chown(name, owner.st_uid, owner.st_gid, dir_fd=parent, follow_symlinks=False)


def open_file(root: Path, path: str) -> int:
    """A read-only descriptor of a regular file; `NotFound` for links, pipes, folders and what does not exist."""
    return open_names(root, parts_of(path))


def open_names(root: Path, names: Sequence[str]) -> int:
    """As `open_file`, for names that a walk met."""
    *folders, name = names or ("",)
    with folder_of_names(root, folders) as parent:
        try:
            descriptor = os.open(name, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK, dir_fd=parent)
        except OSError as error:
            raise NotFound from error
    if not stat.S_ISREG(os.fstat(descriptor).st_mode):
        os.close(descriptor)
        raise NotFound
    return descriptor


def create_file(root: Path, path: str) -> int:
    """A write-only descriptor of a new or emptied regular file, its folders made on the way."""
    *folders, name = parts_of(path) or ("",)
    if not name:
        raise Invalid.field("path", _("A file needs a name."))
    with folder_beneath(root, "/".join(folders), create=True) as parent:
        flags = os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_NOFOLLOW
        try:
            descriptor = os.open(name, flags, 0o644, dir_fd=parent)
        except IsADirectoryError as error:
            raise Invalid.field("path", _("A folder of this name exists already.")) from error
        give_like(parent, name)
        return descriptor


def items(root: Path, path: str = "") -> list[Item]:
    """Folders first, then files, by name; links and special files are not shown."""
    found = []
    with folder_beneath(root, path) as parent:
        for name in os.listdir(parent):
            status = os.stat(name, dir_fd=parent, follow_symlinks=False)
            if stat.S_ISDIR(status.st_mode) or stat.S_ISREG(status.st_mode):
                found.append(_item(path, name, status))
    return sorted(found, key=lambda item: (not item.is_folder, item.name.lower()))


def _item(folder: str, name: str, status: os.stat_result) -> Item:
    is_folder = stat.S_ISDIR(status.st_mode)
    return Item(
        name=name,
        path="/".join((*parts_of(folder), name)),
        is_folder=is_folder,
        size=0 if is_folder else status.st_size,
        modified=datetime.fromtimestamp(status.st_mtime, UTC),
    )
