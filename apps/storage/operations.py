"""Create, rename, move and delete inside one tree, without following links or overwriting unasked."""

import ctypes
import errno
import os
import stat
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path, PurePosixPath
from uuid import uuid4

from django.utils.translation import gettext_lazy as _

from apps.common.errors import Conflict, Invalid, NotFound, Unavailable
from apps.storage import disk
from apps.storage.choices import Clash
from apps.storage.roots import Root, row_of
from apps.storage.safe_open import make_folder, open_folder, open_folder_by_names, split_path, walk
from apps.storage.usage import BRIEF_S, measure, write_budget

RENAME_NOREPLACE = 1
_libc = ctypes.CDLL(None, use_errno=True)


@contextmanager
def disk_errors_as_refusals() -> Iterator[None]:
    """Convert errors of the disk to refusals with a sentence."""
    try:
        yield
    except FileNotFoundError as error:
        raise NotFound from error
    except FileExistsError as error:
        raise Conflict(_("Something of this name is there already.")) from error
    except OSError as error:
        if error.errno in (errno.ENOSPC, errno.EDQUOT):
            raise Unavailable(_("The platform's disk is full.")) from error
        if error.errno in (errno.ENOTDIR, errno.EISDIR, errno.ENOTEMPTY, errno.ELOOP):
            raise Conflict(_("Something else of this name is there already.")) from error
        if error.errno == errno.EINVAL:
            raise Invalid.field("folder", _("A folder cannot be moved into itself.")) from error
        if error.errno == errno.ENAMETOOLONG:
            raise Invalid.field("name", _("This name is too long.")) from error
        raise


def clean_entry(name: str) -> str:
    """A file or folder name that a person chose; `Invalid` if it is more than a name."""
    parts = split_path(name.strip())
    if len(parts) != 1 or "\\" in name:
        raise Invalid.field("name", _("Give a name without slashes."))
    return parts[0]


def create_folder(root: Root, path: str, name: str) -> str:
    """A new folder in the folder `path`; its path. `Conflict` where the name is taken."""
    cleaned = clean_entry(name)
    with write_budget(row_of(root)) as budget, disk_errors_as_refusals(), open_folder(root.path, path) as parent:
        budget.take(0, 1)
        try:
            make_folder(parent, cleaned)
        except OSError:
            budget.give(0, 1)
            raise
    return "/".join((*split_path(path), cleaned))


def rename(root: Root, path: str, name: str) -> str:
    """Rename within the same folder; returns the new path. `Conflict` if the name is taken."""
    *folders, old = _names(path)
    cleaned = clean_entry(name)
    with disk_errors_as_refusals(), open_folder_by_names(root.path, folders) as parent:
        os.stat(old, dir_fd=parent, follow_symlinks=False)
        if cleaned != old:
            rename_new(parent, old, parent, cleaned)
    return "/".join((*folders, cleaned))


def move(root: Root, paths: Sequence[str], folder: str, clash: Clash = Clash.KEEP_BOTH) -> list[str]:
    """Move into another folder of the same tree; returns the new paths, without what was skipped."""
    moved = []
    with disk_errors_as_refusals(), open_folder(root.path, folder) as target:
        for path in paths:
            *folders, name = _names(path)
            if tuple(folders) == split_path(folder):
                continue
            with open_folder_by_names(root.path, folders) as parent:
                os.stat(name, dir_fd=parent, follow_symlinks=False)
                placed = move_entry(parent, name, target, name, clash)
            if placed:
                moved.append("/".join((*split_path(folder), placed)))
    return moved


def move_entry(source: int, name: str, target: int, wanted: str, clash: Clash) -> str | None:
    """Move an entry from one open folder to another as `clash` says; returns its new name, None if skipped."""
    if clash is Clash.REPLACE and _is_file(target, wanted) is not False:
        os.rename(name, wanted, src_dir_fd=source, dst_dir_fd=target)
        return wanted
    for candidate in numbered_names(wanted):
        try:
            rename_new(source, name, target, candidate)
        except FileExistsError:
            if clash is Clash.SKIP:
                return None
            if clash is Clash.REPLACE:
                raise
            continue
        return candidate
    raise FileExistsError(wanted)


def place_tree(aside: Path, target: int, wanted: str, clash: Clash) -> str | None:
    """A tree or file of the platform's own, given to the open folder's owner and put into it as `clash` says."""
    with open_folder(aside.parent, "") as source:
        give_tree(aside, target)
        return move_entry(source, aside.name, target, wanted, clash)


def give_tree(aside: Path, folder: int) -> None:
    """Give a tree that nobody else can reach yet to the open folder's owner."""
    owner = os.fstat(folder)
    if os.geteuid() != 0 or owner.st_uid == 0:
        return
    os.chown(aside, owner.st_uid, owner.st_gid, follow_symlinks=False)
    if aside.is_dir():
        for found in walk(aside):
            os.chown(found.name, owner.st_uid, owner.st_gid, dir_fd=found.parent, follow_symlinks=False)


def numbered_names(name: str) -> Iterator[str]:
    """`data.csv`, `data (2).csv`, `data (3).csv` …"""
    yield name
    suffix = "".join(PurePosixPath(name).suffixes[-2:]) if name.endswith((".gz", ".xz", ".bz2", ".zst")) else ""
    suffix = suffix or PurePosixPath(name).suffix
    stem = name.removesuffix(suffix)
    for number in range(2, 1000):
        yield f"{stem} ({number}){suffix}"


def _is_file(parent: int, name: str) -> bool | None:
    """Whether it is a file; None if nothing is there."""
    with suppress(FileNotFoundError):
        return stat.S_ISREG(os.stat(name, dir_fd=parent, follow_symlinks=False).st_mode)
    return None


def rename_new(source: int, name: str, target: int, wanted: str) -> None:
    """Rename without ever replacing: two people who choose one name do not lose a file. Raises FileExistsError."""
    done = _libc.renameat2(source, os.fsencode(name), target, os.fsencode(wanted), RENAME_NOREPLACE)
    code = ctypes.get_errno() if done else 0
    if code in (errno.ENOSYS, errno.EINVAL) and _is_file(target, wanted) is None:
        os.rename(name, wanted, src_dir_fd=source, dst_dir_fd=target)  # a file system without it, such as NFS
    elif code:
        raise OSError(code, os.strerror(code), wanted)


def delete(root: Root, paths: Sequence[str]) -> int:
    """Delete files and folders for good; returns how many of the named entries existed.

    Their space is free at once, or after the next measurement if they are too large to count meanwhile.
    """
    count = 0
    with write_budget(row_of(root)) as budget:
        for path in paths:
            *folders, name = _names(path)
            with suppress(NotFound), disk_errors_as_refusals(), open_folder_by_names(root.path, folders) as parent:
                budget.give(*_remove(parent, name))
                count += 1
    return count


def _remove(parent: int, name: str) -> tuple[int, int]:
    """Move it away in one step, so that nobody sees half of a folder; returns its bytes and entries."""
    status = os.stat(name, dir_fd=parent, follow_symlinks=False)
    if not stat.S_ISDIR(status.st_mode):
        os.unlink(name, dir_fd=parent)
        return min(status.st_size, status.st_blocks * 512) if stat.S_ISREG(status.st_mode) else 0, 1
    trash = disk.trash()
    aside = uuid4().hex
    os.rename(name, trash / aside, src_dir_fd=parent)
    with suppress(NotFound):  # it is being removed already
        found = measure(trash, [aside], patience_s=BRIEF_S)
        return (found.size, found.entries + 1) if found.complete else (0, 0)
    return 0, 0


def _names(path: str) -> tuple[str, ...]:
    names = split_path(path)
    if not names:
        raise Invalid.field("path", _("Choose a file or a folder."))
    return names
