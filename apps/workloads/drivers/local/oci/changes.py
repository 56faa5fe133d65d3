"""What a run has changed in its image's root, as a layer of the OCI image format. Standard library only.

The upper folder of an overlay (Documentation/filesystems/overlayfs.rst) says by a device 0:0 that a file is gone, and
by an attribute that a folder hides the one below it; a layer says so by names ("Image Layer Filesystem Changeset").
The run's programs may change the folder meanwhile: no link is followed, and nothing is opened that could wait. The same
changes make the same bytes: in the order of their names, owned by root, and with no time but a file's own.
"""

import errno
import os
import stat
import tarfile
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import PurePosixPath

from apps.workloads.drivers.local.oci import confined
from apps.workloads.drivers.local.oci.layers import MOST_DEPTH, OPAQUE, WHITEOUT, TooManyFiles
from apps.workloads.drivers.local.oci.streams import TooLarge

READ = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
_OPAQUE_ATTRIBUTES = ("trusted.overlay.opaque", "user.overlay.opaque")


class Unsaved(Exception):
    """A file that no layer can hold, or that changed while it was read."""

    def __init__(self, path: str) -> None:
        super().__init__(path)
        self.path = path


@dataclass(slots=True)
class Changes:
    """Writes a layer. `left_out`: relative paths that the platform has mounted something on, with all below them."""

    archive: tarfile.TarFile
    left_out: frozenset[str]
    most_bytes: int
    most_files: int
    files: int = 0
    size: int = 0
    _above: frozenset[str] = field(init=False)
    _linked: dict[tuple[int, int], str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        # The folders that those paths made: what the run itself puts there brings them along.
        above = {str(parent) for path in self.left_out for parent in PurePosixPath(path).parents}
        self._above = frozenset(above)

    def add(self, upper: int) -> None:
        """All below the folder. Raises Unsaved, TooLarge, TooManyFiles, OSError where the layer cannot be written."""
        self._add_below(upper, "", 0)

    def _add_below(self, folder: int, path: str, depth: int) -> None:
        if depth > MOST_DEPTH:
            raise Unsaved(path)
        for name in sorted(os.listdir(folder)):
            below = f"{path}/{name}".lstrip("/")
            if below in self.left_out:
                continue
            if name.startswith(WHITEOUT):
                raise Unsaved(below)
            with suppress(FileNotFoundError):  # removed since
                self._add_one(folder, name, below, depth)

    def _add_one(self, folder: int, name: str, path: str, depth: int) -> None:
        seen = os.stat(name, dir_fd=folder, follow_symlinks=False)
        if stat.S_ISCHR(seen.st_mode) and seen.st_rdev == 0:
            above = path.rpartition("/")[0]
            self._put(tarfile.TarInfo(f"{above}/{WHITEOUT}{name}".lstrip("/")))
        elif stat.S_ISDIR(seen.st_mode):
            self._add_folder(folder, name, path, depth)
        elif stat.S_ISLNK(seen.st_mode):
            info = _entry(path, tarfile.SYMTYPE, seen)
            info.linkname = os.readlink(name, dir_fd=folder)
            self._put(info)
        elif stat.S_ISREG(seen.st_mode):
            self._add_file(folder, name, path)

    def _add_folder(self, folder: int, name: str, path: str, depth: int) -> None:
        below = _opened(name, folder, path, confined.FOLDER | os.O_NOFOLLOW)
        try:
            hides = _is_opaque(below)
            if hides or path not in self._above:
                self._put(_entry(path, tarfile.DIRTYPE, os.fstat(below)))
            if hides:
                self._put(tarfile.TarInfo(f"{path}/{OPAQUE}"))
            self._add_below(below, path, depth + 1)
        finally:
            os.close(below)

    def _add_file(self, folder: int, name: str, path: str) -> None:
        with open(_opened(name, folder, path, READ), "rb") as file:
            seen = os.fstat(file.fileno())
            if not stat.S_ISREG(seen.st_mode):
                raise Unsaved(path)
            first = self._linked.setdefault((seen.st_dev, seen.st_ino), path) if seen.st_nlink > 1 else path
            if first != path:
                info = _entry(path, tarfile.LNKTYPE, seen)
                info.linkname = first
                self._put(info)
                return
            info = _entry(path, tarfile.REGTYPE, seen)
            info.size = seen.st_size
            self.size += info.size
            if self.size > self.most_bytes:
                raise TooLarge
            self._count()
            try:
                self.archive.addfile(info, file)
            except OSError as error:
                if error.errno is not None:  # of the disk; tarfile's own has none: the file became shorter
                    raise
                raise Unsaved(path) from error

    def _put(self, info: tarfile.TarInfo) -> None:
        self._count()
        self.archive.addfile(info)

    def _count(self) -> None:
        self.files += 1
        if self.files > self.most_files:
            raise TooManyFiles


def left_out(places: Iterable[str]) -> frozenset[str]:
    """Of absolute paths. All of /etc is the image's but for the files that name the run's user and host."""
    return frozenset(path.strip("/") for path in places if path != "/etc")


def _opened(name: str, folder: int, path: str, flags: int) -> int:
    try:
        return os.open(name, flags, dir_fd=folder)
    except OSError as error:
        if error.errno == errno.ENOENT:
            raise
        raise Unsaved(path) from error  # closed to us, or another thing by now


def _entry(path: str, kind: bytes, seen: os.stat_result) -> tarfile.TarInfo:
    info = tarfile.TarInfo(path)
    info.type = kind
    info.mode = stat.S_IMODE(seen.st_mode) & (0o1777 if kind == tarfile.DIRTYPE else 0o777)
    info.mtime = 0 if kind == tarfile.DIRTYPE else int(seen.st_mtime)
    return info


def _is_opaque(folder: int) -> bool:
    for name in _OPAQUE_ATTRIBUTES:
        with suppress(OSError):
            if os.getxattr(folder, name) == b"y":
                return True
    return False
