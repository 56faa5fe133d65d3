"""Archives of images as people upload them: tar files, plain or compressed. Nothing of one is ever unpacked.

What is in an archive is known by where its bytes lie and what their digest is: names are keys, never paths on a disk.
A compressed one is made plain first, so that its parts can be read in any order.
"""

import gzip
import hashlib
import io
import tarfile
import zlib
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Any, cast

from apps.registry.choices import TransferProblem as Problem
from apps.registry.transfers.planning import Failed
from apps.workloads.drivers.local.disk_floor import Pressure, Space
from apps.workloads.drivers.local.oci import manifest as oci
from apps.workloads.drivers.local.oci import streams
from apps.workloads.drivers.local.oci.layers import Hostile, plain

MOST_ENTRIES = 50_000
MOST_LINKS = 8  # one after the other
PIECE = 1024 * 1024
DISK_EVERY = 64  # pieces
BLOBS = "blobs/sha256/"
PLAIN = "archive.tar"
_DAMAGED = (EOFError, zlib.error, gzip.BadGzipFile, streams.Damaged)


@dataclass(frozen=True, slots=True)
class Entry:
    """A file of an archive: where its bytes lie in it, and what they are."""

    offset: int
    size: int
    digest: str


@dataclass(frozen=True, slots=True)
class Archive:
    """`links`: names that stand for others; `docker save` writes a layer that images share once.

    `ended`: the mark of a tar's end is there, so what is missing was never in it.
    """

    path: Path
    entries: Mapping[str, Entry]
    links: Mapping[str, str] = field(default_factory=dict)
    by_digest: Mapping[str, Entry] = field(default_factory=dict)
    ended: bool = True

    def __contains__(self, name: str) -> bool:
        return name in self.entries

    def find(self, name: str) -> Entry:
        """Raises Failed."""
        at = name
        for _hop in range(MOST_LINKS):
            if at in self.entries:
                return self.entries[at]
            at = self.links.get(at, "")
        raise self.lacking(name)

    def lacking(self, name: str) -> Failed:
        return Failed(Problem.INCOMPLETE, name=name[:200]) if self.ended else Failed(Problem.TRUNCATED)

    def document(self, entry: Entry) -> bytes:
        """One of at most 4 MiB. Raises Failed."""
        if entry.size > oci.MOST_BYTES:
            raise Failed(Problem.UNREADABLE, reason="one of its documents is larger than 4 MiB")
        return b"".join(pieces(self.path, entry.offset, entry.size))

    def unpacked_digest(self, entry: Entry, most: int, moving: Callable[[], None]) -> str:
        """Of a layer without its compression, which is what an image's configuration names. Raises Failed."""
        if not b"".join(pieces(self.path, entry.offset, min(2, entry.size))).startswith(streams.GZIP):
            return entry.digest
        digest, size = hashlib.sha256(), 0
        try:
            with open(self.path, "rb") as file, gzip.GzipFile(fileobj=_Slice(file, entry)) as layer:
                while piece := layer.read(PIECE):
                    size += len(piece)
                    if size > most:
                        raise Failed(Problem.BOMB, most_size=most)
                    digest.update(piece)
                    moving()
        except _DAMAGED as error:
            raise Failed(Problem.TRUNCATED) from error
        return f"sha256:{digest.hexdigest()}"


class _Slice(io.RawIOBase):
    """A part of a file, read from its beginning to its end."""

    def __init__(self, file: IO[bytes], entry: Entry) -> None:
        self._file, self._left = file, entry.size
        file.seek(entry.offset)

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        found = self._file.read(min(len(buffer), self._left))
        buffer[: len(found)] = found
        self._left -= len(found)
        return len(found)


def pieces(path: Path, offset: int, size: int) -> Iterator[bytes]:
    with open(path, "rb") as file:
        file.seek(offset)
        while size and (piece := file.read(min(PIECE, size))):
            size -= len(piece)
            yield piece


def read(file: Path, folder: Path, most: int, moving: Callable[[], None]) -> Archive:
    """`folder`: for the plain copy of a compressed one. `most`: bytes that it may have then. `moving`: called often.

    Raises Failed, OSError, and what `moving` raises.
    """
    with open(file, "rb") as opened:
        first = opened.read(4)
    if first.startswith(streams.GZIP) or first == streams.ZSTD:
        file = _made_plain(file, folder, most, moving)
    return _scanned(file, moving)


def _made_plain(file: Path, folder: Path, most: int, moving: Callable[[], None]) -> Path:
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    target, size, count = folder / PLAIN, 0, 0
    try:
        with streams.opened(file) as source, open(target, "wb") as plain_file:
            while piece := source.read(PIECE):
                size, count = size + len(piece), count + 1
                if size > most:
                    raise Failed(Problem.BOMB, most_size=most)
                if count % DISK_EVERY == 1 and Space.of(folder).pressure >= Pressure.LOW:
                    raise Failed(Problem.DISK_FULL)
                plain_file.write(piece)
                moving()
    except _DAMAGED as error:
        raise Failed(Problem.TRUNCATED) from error
    except streams.NoZstd as error:
        raise Failed(Problem.NOT_AN_ARCHIVE) from error
    return target


def _scanned(path: Path, moving: Callable[[], None]) -> Archive:
    entries: dict[str, Entry] = {}
    links: dict[str, str] = {}
    count = 0
    with open(path, "rb") as file:
        forward = cast("IO[bytes]", streams.Forward(file, lambda _size: moving()))
        try:
            with tarfile.TarFile(fileobj=forward, mode="r", errorlevel=2) as archive:
                while (member := archive.next()) is not None:
                    archive.members.clear()  # type: ignore[attr-defined]  # kept for a search that nobody makes
                    count += 1
                    if count > MOST_ENTRIES:
                        raise Failed(Problem.HOSTILE, reason=f"more than {MOST_ENTRIES} entries")
                    _note(archive, member, entries, links)
        except (Hostile, streams.Damaged) as error:
            raise Failed(Problem.HOSTILE, reason=str(error)[:300]) from error
        except (tarfile.TarError, ValueError, OverflowError) as error:
            raise Failed(Problem.TRUNCATED if count else Problem.NOT_AN_ARCHIVE) from error
    with open(path, "rb") as file:
        file.seek(-tarfile.BLOCKSIZE, io.SEEK_END)
        ended = not file.read().strip(b"\0")
    return Archive(path, entries, links, {entry.digest: entry for entry in entries.values()}, ended)


def _note(archive: tarfile.TarFile, member: tarfile.TarInfo, entries: dict[str, Entry], links: dict[str, str]) -> None:
    """Raises Hostile, Failed, tarfile.TarError."""
    name = plain(member.name)
    if member.isdir():
        return
    if member.issym() or member.islnk():
        links[name] = _target(name, member)
    elif member.isreg() and not member.issparse() and member.size >= 0:
        entries[name] = Entry(member.offset_data, member.size, _digest(archive, member))
        if name.startswith(BLOBS) and f"sha256:{name.removeprefix(BLOBS)}" != entries[name].digest:
            raise Failed(Problem.WRONG_DIGEST, name=name[:200])
    else:
        raise Hostile(f"{name[:200]!r} is neither a file nor a folder")


def _digest(archive: tarfile.TarFile, member: tarfile.TarInfo) -> str:
    found, digest = archive.extractfile(member), hashlib.sha256()
    while found is not None and (piece := found.read(PIECE)):
        digest.update(piece)
    return f"sha256:{digest.hexdigest()}"


def _target(name: str, member: tarfile.TarInfo) -> str:
    """What a link leads to, inside of the archive. Raises Hostile."""
    if member.islnk():
        return plain(member.linkname)
    parts = name.split("/")[:-1]
    for part in member.linkname.split("/"):
        if part == ".." and parts:
            parts.pop()
        elif part == ".." or member.linkname.startswith("/"):
            raise Hostile(f"{name[:200]!r} is a link that leads out of it")
        elif part not in ("", "."):
            parts.append(part)
    return plain("/".join(parts))
