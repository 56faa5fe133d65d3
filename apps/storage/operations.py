"""Making, renaming, moving and deleting inside one tree. No link is followed, nothing is overwritten unasked."""

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
from apps.storage.safe_open import folder_beneath, folder_of_names, make_folder, parts_of, walk
from apps.storage.usage import BRIEF_S, guard, measure

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
    with guard(row_of(root)) as budget, in_words(), folder_beneath(root.path, path) as parent:
        budget.take(0, 1)
        try:
            make_folder(parent, cleaned)
        except OSError:
            budget.give(0, 1)
            raise
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


def appear(aside: Path, target: int, wanted: str, clash: Clash) -> str | None:
    """A tree or file of the platform's own, given to the open folder's owner and put into it as `clash` says."""
    with folder_beneath(aside.parent, "") as source:
        give_tree(aside, target)
        return put(source, aside.name, target, wanted, clash)


def give_tree(aside: Path, folder: int) -> None:
    """Let what nobody else can reach yet belong to whom the open folder belongs to."""
    owner = os.fstat(folder)
    if os.geteuid() != 0 or owner.st_uid == 0:
        return
    os.chown(aside, owner.st_uid, owner.st_gid, follow_symlinks=False)
    if aside.is_dir():
        for found in walk(aside):
            os.chown(found.name, owner.st_uid, owner.st_gid, dir_fd=found.parent, follow_symlinks=False)


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
    """Delete files and folders for good; how many entries were named and there.

    What they took is free at once; of what is too large to be counted meanwhile, after the next measurement.
    """
    count = 0
    with guard(row_of(root)) as budget:
        for path in paths:
            *folders, name = _names(path)
            with suppress(NotFound), in_words(), folder_of_names(root.path, folders) as parent:
                budget.give(*_remove(parent, name))
                count += 1
    return count


def _remove(parent: int, name: str) -> tuple[int, int]:
    """Moved aside in one step, so that nobody meets half of a folder; the bytes and entries that were in it."""
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
    names = parts_of(path)
    if not names:
        raise Invalid.field("path", _("Choose a file or a folder."))
    return names
