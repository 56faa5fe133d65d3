"""Layers of an image, applied one on the other. What a layer says is not trusted. Standard library only.

OCI Image Format Specification, "Image Layer Filesystem Changeset". Every file belongs to whoever unpacks: to which user
it shows is decided by each run. Extended attributes (file capabilities), setuid and setgid bits, FIFOs and what is in
/dev are left out, since nothing inside may have them; device nodes elsewhere, absolute paths and `..` are refused.
"""

import errno
import os
import stat
import tarfile
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, cast

from apps.workloads.drivers.local.oci import confined
from apps.workloads.drivers.local.oci.streams import Forward

WHITEOUT, OPAQUE, META = ".wh.", ".wh..wh..opq", ".wh..wh."
COPY_BYTES = 1024 * 1024
MOST_PATH, MOST_DEPTH = 4096, 256


class Hostile(Exception):
    """Something in a layer that no image needs."""


class TooManyFiles(Exception):
    """More than the rules allow."""


@dataclass(slots=True)
class Tree:
    """A folder that layers are applied to, from the lowest on. `size`: of all files that they had, in bytes."""

    path: Path
    most_files: int
    files: int = 0
    size: int = 0
    _root: int = -1
    _fresh: set[str] = field(default_factory=set)

    def __enter__(self) -> "Tree":
        self.path.mkdir(mode=0o755)
        self._root = os.open(self.path, confined.FOLDER)
        return self

    def __exit__(self, *_: object) -> None:
        os.close(self._root)

    def apply(self, layer: Forward) -> None:
        """Raises Hostile, TooManyFiles, tarfile.TarError, OSError."""
        self._fresh = set()
        with tarfile.TarFile(fileobj=cast("IO[bytes]", layer), mode="r", errorlevel=2) as archive:
            while (member := archive.next()) is not None:
                archive.members.clear()  # type: ignore[attr-defined]  # kept for a search that nobody makes
                self.files += 1
                if self.files > self.most_files:
                    raise TooManyFiles
                self._apply_one(archive, member)
        layer.drain()  # what lies behind the end counts too, and shows whether the compression holds

    def _apply_one(self, archive: tarfile.TarFile, member: tarfile.TarInfo) -> None:
        path = plain(member.name)
        if not path:
            return  # the root itself
        above, _, name = path.rpartition("/")
        try:
            parent = confined.open_folder(self._root, above, on_make=self._note)
        except OSError as error:
            if error.errno not in (errno.ENOTDIR, errno.ELOOP, errno.EEXIST):
                raise
            raise Hostile(f"{path[:200]!r} is below a link that leads nowhere, or below a file") from error
        try:
            if name.startswith(WHITEOUT):
                self._whiteout(path, name, parent)
            else:
                self._place(archive, member, path, name, parent)
        finally:
            os.close(parent)

    def _note(self, path: str) -> None:
        while path and path not in self._fresh:
            self._fresh.add(path)
            path = path.rpartition("/")[0]

    def _whiteout(self, path: str, name: str, parent: int) -> None:
        above = path.rpartition("/")[0]
        if name == OPAQUE:
            self._clear(above, parent)
        elif not name.startswith(META):
            hidden = name.removeprefix(WHITEOUT)
            if hidden in ("", ".", ".."):
                raise Hostile(f"a whiteout of {hidden!r}")
            if f"{above}/{hidden}".lstrip("/") not in self._fresh:
                confined.remove(hidden, parent)

    def _clear(self, above: str, folder: int, depth: int = 0) -> None:
        """Removes what lower layers left in the folder, and leaves what this layer put there before."""
        with os.scandir(folder) as entries:
            found = [(entry.name, entry.is_dir(follow_symlinks=False)) for entry in entries]
        for name, is_folder in found:
            path = f"{above}/{name}".lstrip("/")
            if path not in self._fresh:
                confined.remove(name, folder)
            elif is_folder and depth < MOST_DEPTH:
                below = os.open(name, confined.FOLDER | os.O_NOFOLLOW, dir_fd=folder)
                try:
                    self._clear(path, below, depth + 1)
                finally:
                    os.close(below)

    def _place(self, archive: tarfile.TarFile, member: tarfile.TarInfo, path: str, name: str, parent: int) -> None:
        if member.isdir():
            _make_folder(member, name, parent)
        elif member.isfifo() or path.startswith("dev/"):
            return
        elif member.issparse():
            raise Hostile(f"{path[:200]!r} is a sparse file")
        elif member.isreg():
            confined.remove(name, parent)
            self._write(archive, member, name, parent)
        elif member.issym():
            self._link(member, name, parent)
        elif member.islnk():
            self._link_hard(member, name, parent)
        elif member.ischr() or member.isblk():
            raise Hostile(f"{path[:200]!r} is a device node")
        else:
            raise Hostile(f"{path[:200]!r} is of an unknown kind")
        self._note(path)

    def _write(self, archive: tarfile.TarFile, member: tarfile.TarInfo, name: str, parent: int) -> None:
        flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
        source = archive.extractfile(member)
        with open(os.open(name, flags, 0o600, dir_fd=parent), "wb", buffering=0) as file:
            while source is not None and (data := source.read(COPY_BYTES)):
                view = memoryview(data)
                while view:
                    view = view[file.write(view) :]
            os.fchmod(file.fileno(), member.mode & 0o777 | stat.S_IRUSR)
            _set_time(file.fileno(), member)
        self.size += member.size

    def _link(self, member: tarfile.TarInfo, name: str, parent: int) -> None:
        """Wherever it leads: nobody follows it but inside, where the tree is the root."""
        if not member.linkname or len(member.linkname) > MOST_PATH or "\0" in member.linkname:
            raise Hostile(f"{member.name[:200]!r} is a link with no or an overlong target")
        confined.remove(name, parent)
        os.symlink(member.linkname, name, dir_fd=parent)

    def _link_hard(self, member: tarfile.TarInfo, name: str, parent: int) -> None:
        above, _, target = plain(member.linkname).rpartition("/")
        try:
            folder = confined.open_in(self._root, above or ".", confined.FOLDER)
        except OSError as error:
            raise Hostile(f"{member.name[:200]!r} is a hard link to what is not there") from error
        try:
            seen = os.stat(target, dir_fd=folder, follow_symlinks=False)
            if stat.S_ISDIR(seen.st_mode):
                raise Hostile(f"{member.name[:200]!r} is a hard link to a folder")
            there = os.stat(folder), os.stat(parent)
            if (target, there[0].st_ino) != (name, there[1].st_ino):
                confined.remove(name, parent)
                os.link(target, name, src_dir_fd=folder, dst_dir_fd=parent, follow_symlinks=False)
        except FileNotFoundError as error:
            raise Hostile(f"{member.name[:200]!r} is a hard link to what is not there") from error
        finally:
            os.close(folder)


def plain(path: str) -> str:
    """The path without `.` and doubled slashes. Raises Hostile for one that is absolute, too long or leads upwards."""
    parts = [part for part in path.split("/") if part not in ("", ".")]
    if path.startswith("/") or ".." in parts or "\0" in path:
        raise Hostile(f"{path[:200]!r} is not a path inside of it")
    if len(path) > MOST_PATH or len(parts) > MOST_DEPTH:
        raise Hostile(f"{path[:200]!r} is nested too deep")
    return "/".join(parts)


def _make_folder(member: tarfile.TarInfo, name: str, parent: int) -> None:
    try:
        is_there = stat.S_ISDIR(os.stat(name, dir_fd=parent, follow_symlinks=False).st_mode)
    except FileNotFoundError:
        is_there = False
    if not is_there:
        confined.remove(name, parent)
        os.mkdir(name, dir_fd=parent)
    folder = os.open(name, confined.FOLDER | os.O_NOFOLLOW, dir_fd=parent)
    try:
        os.fchmod(folder, member.mode & 0o1777 | stat.S_IRWXU)
    finally:
        os.close(folder)


def _set_time(descriptor: int, member: tarfile.TarInfo) -> None:
    """Python compares the times of its sources with those in their compiled form."""
    try:
        os.utime(descriptor, (member.mtime, member.mtime))
    except (OSError, OverflowError, ValueError):
        return
