"""Stream folders as a zip that is made while it is sent, without a copy on the disk and with flat memory."""

import os
import zipfile
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from stat import S_ISDIR, S_ISREG
from time import localtime

from django.utils.http import content_disposition_header
from django.utils.translation import gettext as _

from apps.common.actor import Actor
from apps.common.errors import NotFound
from apps.common.streams import Stream, in_threads
from apps.storage.listing import readable
from apps.storage.safe_open import HIDDEN, TooDeep, open_file_by_names, open_folder_by_names, split_path

CHUNK = 1 << 20
FAST = 1  # of zlib's levels: the network waits for us, not we for it
# What is packed already, or is numbers that do not pack: only its checksum is worth the time.
PACKED = frozenset(
    {
        "7z",
        "avi",
        "bin",
        "bz2",
        "ckpt",
        "gif",
        "gz",
        "h5",
        "hdf5",
        "jpeg",
        "jpg",
        "mkv",
        "mov",
        "mp3",
        "mp4",
        "npy",
        "npz",
        "onnx",
        "parquet",
        "pdf",
        "png",
        "pt",
        "pth",
        "rar",
        "safetensors",
        "tgz",
        "webm",
        "webp",
        "whl",
        "xz",
        "zip",
        "zst",
    }
)


class _Sink:
    """A write-only sequential file; `taken` returns what was written since the last call."""

    def __init__(self) -> None:
        self._parts: list[bytes] = []
        self._position = 0

    def write(self, data: bytes) -> int:
        self._parts.append(bytes(data))
        self._position += len(data)
        return len(data)

    def tell(self) -> int:
        return self._position

    def flush(self) -> None:
        """Nothing is held back."""

    def taken(self) -> bytes:
        parts, self._parts = self._parts, []
        return b"".join(parts)


def zip_of(root: Path, paths: Sequence[str]) -> Iterator[bytes]:
    """The chosen files and folders below `root` ("" for all of it), each under its own last name.

    Links, special files and folders nested too deep are left out. What vanishes meanwhile is left out too.
    """
    sink = _Sink()
    with zipfile.ZipFile(sink, "w", zipfile.ZIP_DEFLATED, compresslevel=FAST) as archive:  # type: ignore[call-overload]
        for path in paths:
            names = split_path(path)
            for entry in _entries(root, names):
                yield from _packed(archive, sink, root, entry, "/".join(entry[max(0, len(names) - 1) :]))
    yield sink.taken()


def _entries(root: Path, names: tuple[str, ...]) -> Iterator[tuple[str, ...]]:
    """Names of all files below, depth first, with one folder's names in memory at a time."""
    waiting = [names]
    while waiting:
        current = waiting.pop()
        try:
            with open_folder_by_names(root, current) as here:
                found = [(name, os.stat(name, dir_fd=here, follow_symlinks=False)) for name in sorted(os.listdir(here))]
        except TooDeep:
            continue
        except (NotFound, FileNotFoundError):
            if current:
                yield current
            continue
        shown = [(name, status) for name, status in found if not name.startswith(HIDDEN)]
        yield from ((*current, name) for name, status in shown if S_ISREG(status.st_mode))
        waiting += [(*current, name) for name, status in reversed(shown) if S_ISDIR(status.st_mode)]


def _packed(archive: zipfile.ZipFile, sink: _Sink, root: Path, names: tuple[str, ...], shown: str) -> Iterator[bytes]:
    try:
        descriptor = open_file_by_names(root, names)
    except NotFound:
        return
    try:
        status = os.fstat(descriptor)
        changed = localtime(max(status.st_mtime, 315_619_200))  # zip's calendar begins in 1980
        info = zipfile.ZipInfo(readable(shown), changed[:6])
        packed = shown.rpartition(".")[2].lower() in PACKED
        info.compress_type = zipfile.ZIP_STORED if packed else zipfile.ZIP_DEFLATED
        info.external_attr = (status.st_mode & 0o777) << 16
        with archive.open(info, "w", force_zip64=True) as target:
            while chunk := os.read(descriptor, CHUNK):
                target.write(chunk)
                yield sink.taken()
    finally:
        os.close(descriptor)
    yield sink.taken()


def zip_response(root: Path, title: str, paths: Sequence[str], *, visible: Callable[[Actor], object]) -> Stream:
    """The download; named after what is in it. `visible`: as in `Stream`. Raises `Invalid` for paths that lead out."""
    names = [split_path(path) for path in paths]
    name = names[0][-1] if len(names) == 1 and names[0] else title or _("Files")
    response = Stream(in_threads(zip_of(root, paths)), visible=visible, content_type="application/zip")
    response.headers["Content-Disposition"] = content_disposition_header(True, f"{name}.zip") or "attachment"
    response.headers["Content-Security-Policy"] = "default-src 'none'; sandbox"
    response.headers["Cache-Control"] = "private, no-store"
    return response
