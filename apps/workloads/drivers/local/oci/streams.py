"""Layers as streams: gzip, zstd or neither, told by their first bytes, and read forward only. Standard library only."""

import gzip
import hashlib
import importlib.util
import io
import shutil
import subprocess
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, cast

GZIP, ZSTD = b"\x1f\x8b", b"\x28\xb5\x2f\xfd"
PIECE = 1024 * 1024
# A window that zstd's own command line asks for at most without being told to; more is a trick.
ZSTD_MEMORY = "128MB"


class TooLarge(Exception):
    """More bytes than the rules allow."""


class NoZstd(Exception):
    """Nothing here unpacks zstd."""


class Damaged(Exception):
    """The compression does not hold."""


class Forward:
    """What `tarfile` reads a layer from: it counts, and gives no piece so large that it would fill the memory.

    tarfile reads headers and their extensions whole, files in pieces; an extension larger than `PIECE` is a trick.
    """

    def __init__(self, source: IO[bytes], take: Callable[[int], None]) -> None:
        self._source, self._take, self._position = source, take, 0

    def tell(self) -> int:
        return self._position

    def seek(self, offset: int, whence: int = io.SEEK_SET) -> int:
        """Forward only."""
        if whence != io.SEEK_SET or offset < self._position:
            raise Damaged("a layer would be read backwards")
        while self._position < offset:
            if not self.read(min(PIECE, offset - self._position)):
                break
        return self._position

    def read(self, size: int = -1) -> bytes:
        if not 0 <= size <= PIECE:
            raise Damaged("a header of a layer is larger than 1 MiB")
        found = b""
        try:
            while len(found) < size and (piece := self._source.read(size - len(found))):
                found += piece
        except (EOFError, zlib.error, gzip.BadGzipFile) as error:
            raise Damaged(str(error)) from error
        self._position += len(found)
        self._take(len(found))
        return found

    def drain(self) -> None:
        """To the end."""
        while self.read(PIECE):
            pass


@contextmanager
def opened(path: Path) -> Iterator[IO[bytes]]:
    """The layer without its compression. Raises NoZstd, OSError; Damaged where zstd says so at the end."""
    with open(path, "rb", buffering=0) as unbuffered:
        first = unbuffered.read(4)
    with open(path, "rb") as file:
        if first.startswith(GZIP):
            with gzip.GzipFile(fileobj=file) as unpacked:
                yield cast("IO[bytes]", unpacked)
        elif first == ZSTD:
            with _zstd(file) as piped:
                yield piped
        else:
            yield file


@contextmanager
def _zstd(file: IO[bytes]) -> Iterator[IO[bytes]]:
    if importlib.util.find_spec("compression") is not None and importlib.util.find_spec("compression.zstd"):
        module = importlib.import_module("compression.zstd")  # Python 3.14
        with module.ZstdFile(file) as unpacked:
            yield unpacked
        return
    program = shutil.which("zstd")
    if program is None:
        raise NoZstd
    argv = [program, "-dcq", f"--memory={ZSTD_MEMORY}"]
    with subprocess.Popen(argv, stdin=file, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL) as process:
        try:
            assert process.stdout is not None  # noqa: S101 - a pipe was asked for
            yield process.stdout
            if process.wait() != 0:
                raise Damaged("zstd cannot unpack it")
        finally:
            process.kill()


def digest_of(path: Path) -> str:
    """As `sha256:…`. Raises OSError."""
    with open(path, "rb") as file:
        return f"sha256:{hashlib.file_digest(file, 'sha256').hexdigest()}"
