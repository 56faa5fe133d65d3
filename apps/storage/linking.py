"""Keep files of a tree that nobody writes to any more, without taking room for them a second time."""

import errno
import fcntl
import os
import stat
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from django.utils.translation import gettext_lazy as _

from apps.common.errors import Conflict, Invalid, NotFound, Unavailable
from apps.storage.objects import FICLONE
from apps.storage.rebuilding import copy_content
from apps.storage.safe_open import WalkedEntry, make_folder, open_folder_by_names, open_regular, split_path, walk

_NO_LINKS = frozenset({errno.EXDEV, errno.EPERM, errno.EMLINK})
_FULL = frozenset({errno.ENOSPC, errno.EDQUOT})


@dataclass(frozen=True, slots=True)
class Linked:
    """What was kept: regular files, and their bytes."""

    files: int
    size: int


def link_entries(source: Path, folder: str, names: Sequence[str], target: Path, *, most: int) -> Linked:
    """Give the entries `names` of `source`/`folder`, with all that is in them, a second place in the empty `target`.

    Their blocks are shared where the file system can, else the files are links to the same, which no program may then
    be let write to. Links stay links. Raises `NotFound` where an entry is gone, `Invalid` for more than `most` entries,
    `Conflict` where files disappear meanwhile, `Unavailable` for a full disk.
    """
    above, files, size = split_path(folder), 0, 0
    try:
        for number, each in enumerate(_entries(source, above, names), start=1):
            if number > most:
                raise Invalid(_("It has more than %(count)s files and folders.") % {"count": most})
            _keep(each, each.names[len(above) :], target)
            if each.is_file:
                files, size = files + 1, size + each.status.st_size
    except FileNotFoundError as error:
        raise Conflict(_("Its files changed while they were being read."), hint=_("Try again.")) from error
    except OSError as error:
        if error.errno not in _FULL:
            raise
        raise Unavailable(_("The platform's disk is full."), hint=_("Ask its administrators to free space.")) from error
    return Linked(files, size)


def _entries(source: Path, above: tuple[str, ...], names: Sequence[str]) -> Iterator[WalkedEntry]:
    """The entries themselves, then what is in them, folders before their contents. Raises `NotFound`."""
    folders = []
    with open_folder_by_names(source, above) as parent:
        for name in names:
            try:
                found = WalkedEntry(parent, above, name, os.stat(name, dir_fd=parent, follow_symlinks=False))
            except FileNotFoundError as error:
                raise NotFound from error
            yield found
            if found.is_folder:
                folders.append(name)
    for name in folders:
        yield from walk(source, (*above, name))


def _keep(entry: WalkedEntry, inside: tuple[str, ...], target: Path) -> None:
    """Sockets and pipes are left out."""
    with open_folder_by_names(target, inside) as place:
        if entry.is_folder:
            make_folder(place, entry.name)
        elif stat.S_ISLNK(entry.status.st_mode):
            os.symlink(os.readlink(entry.name, dir_fd=entry.parent), entry.name, dir_fd=place)
        elif entry.is_file:
            _keep_file(entry, place)


def _keep_file(entry: WalkedEntry, place: int) -> None:
    try:
        _copy(entry, place, lambda source, made: fcntl.ioctl(made, FICLONE, source))
        return
    except FileNotFoundError:
        raise
    except OSError:  # most file systems cannot share blocks
        pass
    try:
        os.link(entry.name, entry.name, src_dir_fd=entry.parent, dst_dir_fd=place, follow_symlinks=False)
    except OSError as error:
        if error.errno not in _NO_LINKS:
            raise
        _copy(entry, place, copy_content)


def _copy(entry: WalkedEntry, place: int, send: Callable[[int, int], object]) -> None:
    """A file of its own with the times and mode of the entry; nothing is left where `send` raises."""
    source = open_regular(entry.parent, entry.name)
    try:
        made = open_regular(place, entry.name, os.O_WRONLY | os.O_CREAT | os.O_EXCL)
        try:
            send(source, made)
            os.fchmod(made, stat.S_IMODE(entry.status.st_mode) & 0o777)
            os.utime(made, ns=(entry.status.st_atime_ns, entry.status.st_mtime_ns))
        except BaseException:
            os.unlink(entry.name, dir_fd=place)
            raise
        finally:
            os.close(made)
    finally:
        os.close(source)
