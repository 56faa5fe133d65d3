"""Unpacking an uploaded zip: regular files below one folder, nothing else, and never more than allowed."""

import os
import stat
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import IO

from django.utils.translation import gettext_lazy as _

from apps.common.errors import Invalid
from apps.storage.beneath import create_file, parts_of

MAX_FILES = 5000
MAX_BYTES = 512 * 1024 * 1024
CHUNK = 1 << 20


# Asked before so many more bytes are written; raises where they do not fit.
Take = Callable[[int], None]


def extract_zip(source: IO[bytes], root: Path) -> int:
    """Write the archive's files below `root`; the number of files.

    Raises `Invalid` for what is no zip, for names that leave the folder, links, encryption, and for more files
    or bytes than allowed. Sizes are counted as they are written: what the archive says of itself proves nothing.
    """
    return unpack(source, root, _at_most(MAX_BYTES), max_files=MAX_FILES)


def _at_most(left: int) -> Take:
    def take(count: int) -> None:
        nonlocal left
        left -= count
        if left < 0:
            raise Invalid.field("file", _("The zip file unpacks to more than 512 MiB."))

    return take


def unpack(source: IO[bytes], root: Path, take: Take, *, folder: str = "", max_files: int | None = None) -> int:
    """The same into `root`/`folder`, with a limit of the caller's own."""
    try:
        with zipfile.ZipFile(source) as archive:
            members = [info for info in archive.infolist() if not info.is_dir()]
            _check(members, max_files)
            for info in members:
                _write(archive, info, root, folder, take)
            return len(members)
    except (zipfile.BadZipFile, NotImplementedError, RuntimeError, EOFError, UnicodeError) as error:
        raise Invalid.field("file", _("This zip file is damaged or of a kind that cannot be read.")) from error


def _check(members: list[zipfile.ZipInfo], max_files: int | None) -> None:
    if max_files is not None and len(members) > max_files:
        raise Invalid.field("file", _("The zip file holds more than 5,000 files."))
    for info in members:
        kind = stat.S_IFMT(info.external_attr >> 16)
        if kind not in (0, stat.S_IFREG):
            raise Invalid.field("file", _("The zip file holds links or special files; only plain files are taken."))
        if info.flag_bits & 0x1:
            raise Invalid.field("file", _("The zip file is protected by a password."))
        parts_of(info.filename)


def _write(archive: zipfile.ZipFile, info: zipfile.ZipInfo, root: Path, folder: str, take: Take) -> None:
    path = f"{folder}/{info.filename}" if folder else info.filename
    with archive.open(info) as packed, os.fdopen(create_file(root, path), "wb") as target:
        while chunk := packed.read(CHUNK):
            take(len(chunk))
            target.write(chunk)
