"""Paths inside a tree that somebody else has filled: no link in it leads out of it. Standard library only.

By openat2(2), Linux 5.6: RESOLVE_IN_ROOT takes an absolute link, and `..` at the top, as inside of the tree.
"""

import ctypes
import errno
import os
import stat
from collections.abc import Callable

SYS_OPENAT2 = 437
RESOLVE_NO_MAGICLINKS, RESOLVE_NO_SYMLINKS, RESOLVE_IN_ROOT = 0x02, 0x04, 0x10
FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC
AGAIN = 64

_libc = ctypes.CDLL(None, use_errno=True)


class _How(ctypes.Structure):
    _fields_ = (("flags", ctypes.c_uint64), ("mode", ctypes.c_uint64), ("resolve", ctypes.c_uint64))


def open_in(root: int, path: str, flags: int, links: bool = True) -> int:
    """A descriptor of what `path` is inside of the tree `root`; without `links`, no step may be one. Raises OSError."""
    resolve = RESOLVE_IN_ROOT | RESOLVE_NO_MAGICLINKS | (0 if links else RESOLVE_NO_SYMLINKS)
    how = _How(flags | os.O_CLOEXEC, 0, resolve)
    for _ in range(AGAIN):  # a rename elsewhere on the machine may ask for another try
        found: int = _libc.syscall(SYS_OPENAT2, root, os.fsencode(path), ctypes.byref(how), ctypes.sizeof(how))
        if found >= 0:
            return found
        if (number := ctypes.get_errno()) != errno.EAGAIN:
            break
    raise OSError(number, os.strerror(number), path)


def open_folder(root: int, path: str, links: bool = True, on_make: Callable[[str], None] | None = None) -> int:
    """The folder, made with those above it where it is missing. OSError (ENOTDIR, ELOOP, EEXIST) for a bad link."""
    try:
        return open_in(root, path or ".", FOLDER, links)
    except FileNotFoundError:
        above, _, name = path.rstrip("/").rpartition("/")
        parent = open_folder(root, above, links, on_make)
    try:
        os.mkdir(name, 0o755, dir_fd=parent)
        if on_make is not None:
            on_make(path)
    finally:
        os.close(parent)
    return open_in(root, path, FOLDER, links)


def remove(name: str, parent: int) -> None:
    """Whatever has this name, with all below it; nothing where there is none. Layers may nest without end."""
    try:
        seen = os.stat(name, dir_fd=parent, follow_symlinks=False)
    except FileNotFoundError:
        return
    if not stat.S_ISDIR(seen.st_mode):
        os.unlink(name, dir_fd=parent)
        return
    open_parents, names = [os.dup(parent)], [name]
    try:
        while names:
            folder = os.open(names[-1], FOLDER | os.O_NOFOLLOW, dir_fd=open_parents[-1])
            below = _clear_files(folder)
            if below is None:
                os.close(folder)
                os.rmdir(names.pop(), dir_fd=open_parents[-1])
                if names:
                    os.close(open_parents.pop())
            else:
                open_parents.append(folder)
                names.append(below)
    finally:
        for descriptor in open_parents:
            os.close(descriptor)


def _clear_files(folder: int) -> str | None:
    """Removes what is no folder, up to the first one, whose name it returns."""
    with os.scandir(folder) as entries:
        for entry in entries:
            if entry.is_dir(follow_symlinks=False):
                return entry.name
            os.unlink(entry.name, dir_fd=folder)
    return None
