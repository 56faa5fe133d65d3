"""Unpacking an uploaded zip: regular files below one folder, nothing else, and never more than allowed.

What an archive declares is checked before anything is written, but not trusted: names, bytes and files are counted
again as they are extracted. A zip inside a zip stays a file. The directory of a zip is read into memory, so its size is
checked first.
"""

import stat
import struct
import zipfile
import zlib
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import IO

from django.utils.translation import gettext_lazy as _

from apps.common.errors import Invalid
from apps.storage.objects import write_all
from apps.storage.safe_open import split_path, writing

MAX_FILES = 5000
MAX_BYTES = 512 * 1024 * 1024
CHUNK = 1 << 20
# Bytes of a zip's directory per file that it may hold, and for all of them: 32 MiB describe half a million files.
DIRECTORY_BYTES = 2048
MAX_DIRECTORY = 32 << 20
# The other methods unpack whole blocks at once: a few KiB become gigabytes of memory before anybody can count them.
METHODS = frozenset({zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED})
LOCAL_HEADER = 30
BROKEN = (
    zipfile.BadZipFile,
    zipfile.LargeZipFile,
    zlib.error,
    struct.error,
    NotImplementedError,
    RuntimeError,
    EOFError,
    ValueError,
    OverflowError,
    IndexError,
)

# Called once, before anything is written, with the total bytes and entries (files and folders); raises if they do not
# fit.
Admit = Callable[[int, int], None]
# Called with bytes and files as they are extracted; may raise to give up.
Progress = Callable[[int, int], None]


def extract_zip(source: IO[bytes], root: Path) -> int:
    """Write the archive's files below `root`; returns the number of files.

    Raises `Invalid` if it is not a zip, for names that leave the folder, links, encryption, and for more files or bytes
    than allowed.
    """
    return extract_within(source, root, _within_code_limits, max_files=MAX_FILES)


def _within_code_limits(size: int, _entries: int) -> None:
    if size > MAX_BYTES:
        raise Invalid.field("file", _("The zip file unpacks to more than 512 MiB."))


def extract_within(
    source: IO[bytes], root: Path, admit: Admit, progress: Progress | None = None, *, max_files: int | None = None
) -> int:
    """`extract_zip` with the caller's own limits. No entry ever yields more bytes than it declares."""
    try:
        _check_directory(source, max_files)
        with zipfile.ZipFile(source) as archive:
            members = [info for info in archive.infolist() if not info.is_dir()]
            _check(members, max_files)
            entries = _check_names(members)
            _check_extents(archive.infolist())
            admit(sum(info.file_size for info in members), entries)
            for info in members:
                _write(archive, info, root, progress)
            return len(members)
    except BROKEN as error:
        raise _damaged() from error


def _damaged() -> Invalid:
    return Invalid.field("file", _("This zip file is damaged or of a kind that cannot be read."))


def _check_directory(source: IO[bytes], max_files: int | None) -> None:
    """Refuse a directory that would fill the memory: `zipfile` reads as many bytes of it as this record declares."""
    record = zipfile._EndRecData(source)  # type: ignore[attr-defined]
    most = MAX_DIRECTORY if max_files is None else min(MAX_DIRECTORY, max_files * DIRECTORY_BYTES)
    if record is None:
        raise _damaged()
    if record[zipfile._ECD_SIZE] > most:  # type: ignore[attr-defined]
        raise Invalid.field("file", _("The zip file holds too many files."))
    source.seek(0)


def _check(members: Sequence[zipfile.ZipInfo], max_files: int | None) -> None:
    if max_files is not None and len(members) > max_files:
        raise Invalid.field("file", _("The zip file holds more than 5,000 files."))
    for info in members:
        kind = stat.S_IFMT(info.external_attr >> 16)
        if kind not in (0, stat.S_IFREG):
            raise Invalid.field("file", _("The zip file holds links or special files; only plain files are taken."))
        if "\0" in info.orig_filename:
            raise _damaged()
        if info.flag_bits & 0x1:
            raise Invalid.field("file", _("The zip file is protected by a password."))
        if info.compress_type not in METHODS:
            raise Invalid.field("file", _("The zip file is packed with a method other than Deflate."))


def _check_names(members: Iterable[zipfile.ZipInfo]) -> int:
    """Count files and folders; refuses two files of one name, and a file at the path of another one's folder."""
    files: set[tuple[str, ...]] = set()
    folders: set[tuple[str, ...]] = set()
    for info in members:
        names = split_path(info.filename)
        if not names or names in files:
            raise _same_name()
        files.add(names)
        folders.update(names[:depth] for depth in range(1, len(names)))
    if files & folders:
        raise _same_name()
    return len(files) + len(folders)


def _same_name() -> Invalid:
    return Invalid.field("file", _("Two entries of the zip file have one name."))


def _check_extents(entries: Iterable[zipfile.ZipInfo]) -> None:
    """Each entry has bytes of its own: in a small bomb, a million entries share the same ones."""
    end = 0
    for info in sorted(entries, key=lambda info: info.header_offset):
        if info.header_offset < end:
            raise _damaged()
        end = info.header_offset + LOCAL_HEADER + len(info.orig_filename) + info.compress_size


def _write(archive: zipfile.ZipFile, info: zipfile.ZipInfo, root: Path, progress: Progress | None) -> None:
    left = info.file_size
    with archive.open(info) as packed, writing(root, info.filename) as target:
        while chunk := packed.read(CHUNK):
            left -= len(chunk)
            if left < 0:
                raise _damaged()
            write_all(target, chunk)
            if progress is not None:
                progress(0, len(chunk))
    if progress is not None:
        progress(1, 0)
