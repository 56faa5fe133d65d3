"""Making, renaming, moving and deleting inside one tree. No link is followed, nothing is overwritten unasked."""

import ctypes
import errno
import os
import shutil
import stat
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import PurePosixPath
from uuid import uuid4

from django.utils.translation import gettext_lazy as _

from apps.common.errors import Conflict, Invalid, NotFound, Unavailable
from apps.storage import disk
from apps.storage.beneath import folder_beneath, folder_of_names, make_folder, parts_of
from apps.storage.choices import Clash
from apps.storage.roots import Root, row_of
from apps.storage.usage import guard, measure_open

RENAME_NOREPLACE = 1
_libc = ctypes.CDLL(None, use_errno=True)


@contextmanager
def in_words() -> Iterator[None]:
    """What the disk refuses, as a sentence."""
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
    """One name of a file or folder that a person chose; `Invalid` for more than a name."""
    parts = parts_of(name.strip())
    if len(parts) != 1 or "\\" in name:
        raise Invalid.field("name", _("Give a name without slashes."))
    return parts[0]


def create_folder(root: Root, path: str, name: str) -> str:
    """A new folder in the folder `path`; its path. `Conflict` where the name is taken."""
    cleaned = clean_entry(name)
    with in_words(), folder_beneath(root.path, path) as parent:
        make_folder(parent, cleaned)
    return "/".join((*parts_of(path), cleaned))


def rename(root: Root, path: str, name: str) -> str:
    """Another name in the same folder; the new path. `Conflict` where it is taken."""
    *folders, old = _names(path)
    cleaned = clean_entry(name)
    with in_words(), folder_of_names(root.path, folders) as parent:
        os.stat(old, dir_fd=parent, follow_symlinks=False)
        if cleaned != old:
            rename_new(parent, old, parent, cleaned)
    return "/".join((*folders, cleaned))


def move(root: Root, paths: Sequence[str], folder: str, clash: Clash = Clash.KEEP_BOTH) -> list[str]:
    """Into another folder of the same tree; the new paths, without what was skipped."""
    moved = []
    with in_words(), folder_beneath(root.path, folder) as target:
        for path in paths:
            *folders, name = _names(path)
            if tuple(folders) == parts_of(folder):
                continue
            with folder_of_names(root.path, folders) as parent:
                os.stat(name, dir_fd=parent, follow_symlinks=False)
                placed = put(parent, name, target, name, clash)
            if placed:
                moved.append("/".join((*parts_of(folder), placed)))
    return moved


def put(source: int, name: str, target: int, wanted: str, clash: Clash) -> str | None:
    """Rename an entry of one open folder into another as `clash` says; its name there, None where it was skipped."""
    if clash is Clash.REPLACE and _is_file(target, wanted) is not False:
        os.rename(name, wanted, src_dir_fd=source, dst_dir_fd=target)
        return wanted
    for candidate in candidates(wanted):
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


def candidates(name: str) -> Iterator[str]:
    """`data.csv`, `data (2).csv`, `data (3).csv` …"""
    yield name
    suffix = "".join(PurePosixPath(name).suffixes[-2:]) if name.endswith((".gz", ".xz", ".bz2", ".zst")) else ""
    suffix = suffix or PurePosixPath(name).suffix
    stem = name.removesuffix(suffix)
    for number in range(2, 1000):
        yield f"{stem} ({number}){suffix}"


def _is_file(parent: int, name: str) -> bool | None:
    """None where nothing is there."""
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
    """Delete files and folders for good; how many entries were named and there. What they took is free at once."""
    count = 0
    with guard(row_of(root)) as budget:
        for path in paths:
            *folders, name = _names(path)
            with suppress(NotFound), in_words(), folder_of_names(root.path, folders) as parent:
                budget.give(_remove(parent, name))
                count += 1
    return count


def _remove(parent: int, name: str) -> int:
    """Moved aside in one step, so that nobody meets half of a folder; the bytes that were in it."""
    status = os.stat(name, dir_fd=parent, follow_symlinks=False)
    if not stat.S_ISDIR(status.st_mode):
        os.unlink(name, dir_fd=parent)
        return min(status.st_size, status.st_blocks * 512) if stat.S_ISREG(status.st_mode) else 0
    trash = disk.trash()
    aside = trash / uuid4().hex
    try:
        os.rename(name, aside, src_dir_fd=parent)
    except OSError as error:
        if error.errno != errno.EXDEV:
            raise
        size = measure_open(parent, name)[1]
        shutil.rmtree(name, dir_fd=parent)
        return size
    return measure_open(None, str(aside))[1]


def _names(path: str) -> tuple[str, ...]:
    names = parts_of(path)
    if not names:
        raise Invalid.field("path", _("Choose a file or a folder."))
    return names
