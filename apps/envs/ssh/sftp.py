"""SFTP and scp on a guest's namespace. Every method of asyncssh's server that would touch the disk is replaced here."""

import errno
import os
import stat
from collections.abc import AsyncIterator, Callable
from typing import Any, Concatenate, NoReturn, ParamSpec, TypeVar

import asyncssh
from asyncssh import SFTPAttrs, SFTPName
from asyncssh.constants import FILEXFER_TYPE_DIRECTORY, FXF_APPEND, FXF_CREAT, FXF_EXCL, FXF_READ, FXF_TRUNC, FXF_WRITE
from django.utils.translation import gettext as _

from apps.envs.ssh import writing
from apps.envs.ssh.current import CurrentNamespace
from apps.envs.ssh.namespace import (
    Namespace,
    Spot,
    is_shown,
    open_folder,
    opened_parent,
    require_writable,
    status_of,
)
from apps.envs.ssh.session_auth import Guest, Kind
from apps.envs.ssh.workers import in_thread, on_disk
from apps.envs.ssh.writing import OpenFile, WriteBudget

CHUNK = 500
FILE_MODE = 0o644
_OPEN_FLAGS = {FXF_APPEND: os.O_APPEND, FXF_CREAT: os.O_CREAT, FXF_TRUNC: os.O_TRUNC, FXF_EXCL: os.O_EXCL}
P = ParamSpec("P")
T = TypeVar("T")


class Files(asyncssh.SFTPServer):
    """One SFTP or scp session. What may be seen is read again every few seconds, for files that are open as well."""

    def __init__(self, channel: Any, guest: Guest) -> None:
        super().__init__(channel)
        self._has_files = guest.kind is not Kind.PROGRAM
        self._current = CurrentNamespace(guest)
        self._accounts: dict[Any, WriteBudget] = {}
        self._said: set[str] = set()

    # Paths

    async def _namespace(self) -> Namespace:
        if not self._has_files:
            text = _("This is a running program: its files are on its page in the portal; rsync reaches those inside.")
            self._say(text)
            raise asyncssh.SFTPPermissionDenied(text)
        return await self._current.get()

    async def _open_still(self, file_obj: object) -> OpenFile:
        """A file that the guest may still read, and write where it is open for that; else PermissionError."""
        file = _file(file_obj)
        if not await self._current.allows(file.root_id, write=file.account is not None):
            raise PermissionError(errno.EACCES, os.strerror(errno.EACCES))
        return file

    async def _at(self, path: bytes, call: "Callable[Concatenate[Spot, P], T]", *args: P.args, **kwargs: P.kwargs) -> T:
        """`call` on the entry itself, links before it resolved."""
        space = await self._namespace()
        return await self._done(lambda: call(_inside(space, space.resolved(_text(path), last=False)), *args, **kwargs))

    async def _behind(
        self, path: bytes, call: "Callable[Concatenate[Spot, P], T]", *args: P.args, **kwargs: P.kwargs
    ) -> T:
        """`call` on what the path leads to, a link at its end resolved too."""
        space = await self._namespace()
        return await self._done(lambda: call(_inside(space, space.resolved(_text(path))), *args, **kwargs))

    async def _done(self, act: Callable[[], T]) -> T:
        """In a thread; that nothing more fits in is said in words."""
        try:
            return await in_thread(act)
        except writing.LimitReached as error:
            self._say(error.text)
            raise asyncssh.SFTPQuotaExceeded(error.text) from error

    def _account(self, spot: Spot) -> WriteBudget:
        return self._accounts.setdefault(spot.place.root.id, WriteBudget(spot.place.root))

    async def realpath(self, path: bytes) -> bytes:
        names = (await self._namespace()).absolute(_text(path))
        return os.fsencode("/" + "/".join(names))

    # Looking

    async def lstat(self, path: bytes) -> SFTPAttrs:
        return await self._look(path, last=False)

    async def stat(self, path: bytes) -> SFTPAttrs:
        return await self._look(path, last=True)

    async def _look(self, path: bytes, *, last: bool) -> SFTPAttrs:
        space = await self._namespace()

        def look() -> SFTPAttrs:
            spot = space.spot(space.resolved(_text(path), last=last))
            return _attributes(status_of(spot)) if spot else _folder_between()

        return await on_disk(look)

    async def scandir(self, path: bytes) -> AsyncIterator[SFTPName]:
        space = await self._namespace()
        names = await on_disk(space.resolved, _text(path))
        for dots in (b".", b".."):
            yield SFTPName(dots, attrs=_folder_between())
        for name in space.between(names):
            yield SFTPName(os.fsencode(name), attrs=_folder_between())
        spot = space.spot(names)
        if spot is None:
            return
        folder = await on_disk(open_folder, spot)
        try:
            listed = sorted(set(await on_disk(os.listdir, folder)) - set(space.between(names)))
            for start in range(0, len(listed), CHUNK):
                for entry in await on_disk(_entries, folder, listed[start : start + CHUNK]):
                    yield entry
        finally:
            os.close(folder)

    async def readlink(self, path: bytes) -> bytes:
        def read(spot: Spot) -> bytes:
            with opened_parent(spot) as (parent, name):
                return os.fsencode(os.readlink(name, dir_fd=parent))

        return await self._at(path, read)

    # Files

    async def open(self, path: bytes, pflags: int, attrs: SFTPAttrs) -> OpenFile:
        mode = FILE_MODE if attrs.permissions is None else attrs.permissions
        return await self._behind(path, lambda spot: writing.open_file(spot, _flags(pflags), mode, self._account(spot)))

    async def close(self, file_obj: object) -> None:
        await on_disk(_file(file_obj).close)

    async def read(self, file_obj: object, offset: int, size: int) -> bytes:
        return await on_disk((await self._open_still(file_obj)).read, offset, size)

    async def write(self, file_obj: object, offset: int, data: bytes) -> int:
        still = await self._open_still(file_obj)
        return await self._done(lambda: still.write(offset, data))

    def _say(self, text: str) -> None:
        """Beside the protocol, whose third version knows no words for it: people's clients show it on the terminal."""
        if text not in self._said:
            self._said.add(text)
            self.channel.write_stderr(text.encode() + b"\r\n")

    async def fstat(self, file_obj: object) -> SFTPAttrs:
        return _attributes(os.fstat((await self._open_still(file_obj)).descriptor))

    async def fsync(self, file_obj: object) -> None:
        await on_disk(os.fsync, _file(file_obj).descriptor)

    async def fsetstat(self, file_obj: object, attrs: SFTPAttrs) -> None:
        file = await self._open_still(file_obj)
        if file.account is None:
            raise PermissionError(errno.EACCES, os.strerror(errno.EACCES))
        await in_thread(_set, file, attrs)

    async def setstat(self, path: bytes, attrs: SFTPAttrs) -> None:
        await self._behind(path, self._set_entry, attrs)

    async def lsetstat(self, path: bytes, attrs: SFTPAttrs) -> None:
        await self._at(path, self._set_entry, attrs)

    def _set_entry(self, spot: Spot, attrs: SFTPAttrs) -> None:
        """Owners are not for clients to choose; of a link itself nothing is set."""
        require_writable(spot)
        status = status_of(spot)
        if stat.S_ISDIR(status.st_mode):
            file = OpenFile(open_folder(spot), spot.place.root.id, None)
        elif stat.S_ISREG(status.st_mode):
            file = writing.open_file(spot, os.O_WRONLY, 0, self._account(spot))
        else:
            return
        try:
            _set(file, attrs)
        finally:
            file.close()

    # Entries

    async def remove(self, path: bytes) -> None:
        await self._at(path, lambda spot: writing.remove(spot, self._account(spot)))

    async def mkdir(self, path: bytes, attrs: SFTPAttrs) -> None:
        await self._at(path, lambda spot: writing.create_folder(spot, self._account(spot)))

    async def rmdir(self, path: bytes) -> None:
        await self._at(path, lambda spot: writing.remove_folder(spot, self._account(spot)))

    async def rename(self, oldpath: bytes, newpath: bytes) -> None:
        await self._rename(oldpath, newpath, replace=False)

    async def posix_rename(self, oldpath: bytes, newpath: bytes) -> None:
        await self._rename(oldpath, newpath, replace=True)

    async def _rename(self, oldpath: bytes, newpath: bytes, *, replace: bool) -> None:
        space = await self._namespace()

        def rename() -> None:
            old, new = (_inside(space, space.resolved(_text(path), last=False)) for path in (oldpath, newpath))
            writing.rename(old, new, self._account(new), replace=replace)

        await in_thread(rename)

    async def symlink(self, oldpath: bytes, newpath: bytes) -> None:
        await self._at(newpath, lambda spot: writing.link(spot, _text(oldpath), self._account(spot)))

    async def exit(self) -> None:
        for account in self._accounts.values():
            await in_thread(account.settle)
        if self.channel.get_subsystem() == "sftp":
            self.channel.exit(0)  # without a status, OpenSSH's scp takes it for a failure

    # What is not offered; asyncssh's own would go to the machine's files

    def _refuse(self, *_arguments: Any) -> NoReturn:
        raise asyncssh.SFTPOpUnsupported("Not offered here")

    open56 = link = lock = unlock = statvfs = fstatvfs = _refuse  # type: ignore[assignment]

    def map_path(self, path: bytes) -> bytes:
        self._refuse(path)

    def reverse_map_path(self, path: bytes) -> bytes:
        self._refuse(path)

    def format_user(self, uid: int | None) -> str:
        return "" if uid is None else str(uid)

    def format_group(self, gid: int | None) -> str:
        return "" if gid is None else str(gid)


def _inside(space: Namespace, names: tuple[str, ...]) -> Spot:
    """A spot to act on; the folders that lead to the places are only there to be looked at."""
    spot = space.spot(names)
    if spot is None:
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES))
    return spot


def _file(file_obj: object) -> OpenFile:
    if not isinstance(file_obj, OpenFile):
        raise OSError(errno.EBADF, os.strerror(errno.EBADF))
    return file_obj


def _flags(pflags: int) -> int:
    """os.open's for those of SFTP version 3 (draft-ietf-secsh-filexfer-02, 6.3)."""
    reads, writes = pflags & FXF_READ, pflags & (FXF_WRITE | FXF_APPEND)
    flags = os.O_RDWR if reads and writes else os.O_WRONLY if writes else os.O_RDONLY
    for wanted, flag in _OPEN_FLAGS.items():
        flags |= flag if pflags & wanted else 0
    return flags


def _set(file: OpenFile, attrs: SFTPAttrs) -> None:
    if attrs.size is not None:
        file.resize(attrs.size)
    if attrs.permissions is not None:
        writing.set_mode(file.descriptor, attrs.permissions)
    if attrs.atime is not None and attrs.mtime is not None:
        os.utime(file.descriptor, (attrs.atime, attrs.mtime))


def _entries(folder: int, names: list[str]) -> list[SFTPName]:
    """What is gone meanwhile, or no file, is left out."""
    found = []
    for name in names:
        try:
            status = os.stat(name, dir_fd=folder, follow_symlinks=False)
        except FileNotFoundError:
            continue
        if is_shown(status):
            found.append(SFTPName(os.fsencode(name), attrs=_attributes(status)))
    return found


def _attributes(status: os.stat_result) -> SFTPAttrs:
    found = SFTPAttrs.from_local(status)
    found.owner = found.group = ""  # the machine's own names are nobody's business
    return found


def _folder_between() -> SFTPAttrs:
    return SFTPAttrs(
        type=FILEXFER_TYPE_DIRECTORY, size=0, uid=0, gid=0, permissions=stat.S_IFDIR | 0o755, atime=0, mtime=0, nlink=2
    )


def _text(path: bytes) -> str:
    return os.fsdecode(path)
