"""Text files in the page: read with their detected encoding, written back in it unless they changed meanwhile."""

import os
import stat
from dataclasses import dataclass

from django.utils.translation import gettext_lazy as _

from apps.common.errors import Conflict, Invalid
from apps.storage.objects import write_all
from apps.storage.operations import disk_errors_as_refusals
from apps.storage.roots import Root, row_of
from apps.storage.safe_open import open_file_by_names, open_folder_by_names, replacing, split_path
from apps.storage.usage import write_budget

MAX_TEXT = 1 << 20
ENCODINGS = ("utf-8", "gb18030")


@dataclass(frozen=True, slots=True)
class Text:
    """`etag` identifies this content; a writer must have read it. `encoding` is used to write it back."""

    text: str
    encoding: str
    etag: str

    @property
    def is_crlf(self) -> bool:
        return "\r\n" in self.text


def read_text(root: Root, path: str) -> Text:
    """A text file of at most 1 MiB. Raises `Invalid` for larger ones and binary files, and `NotFound`."""
    descriptor = open_file_by_names(root.path, split_path(path))
    try:
        status = os.fstat(descriptor)
        if status.st_size > MAX_TEXT:
            raise Invalid.field("path", _("The file is larger than 1 MiB; download it to work on it."))
        data = read_all(descriptor, MAX_TEXT)
    finally:
        os.close(descriptor)
    text, encoding = decode(data)
    return Text(text, encoding, _etag(status))


def read_all(descriptor: int, most: int) -> bytes:
    """The file's bytes, `most` at most."""
    parts = []
    while most > 0 and (part := os.read(descriptor, most)):
        parts.append(part)
        most -= len(part)
    return b"".join(parts)


def decode(data: bytes) -> tuple[str, str]:
    """Text and encoding; `Invalid` in words for what is none."""
    if data.startswith(b"\xef\xbb\xbf"):
        return data.decode("utf-8-sig", "strict") if _decodes_as(data, "utf-8-sig") else _no_text(), "utf-8-sig"
    if data.startswith((b"\xff\xfe", b"\xfe\xff")) and _decodes_as(data, "utf-16"):
        return data.decode("utf-16"), "utf-16"
    if b"\0" not in data:
        for encoding in ENCODINGS:
            if _decodes_as(data, encoding):
                return data.decode(encoding), encoding
    return _no_text(), ""


def _decodes_as(data: bytes, encoding: str) -> bool:
    try:
        data.decode(encoding)
    except UnicodeDecodeError:
        return False
    return True


def _no_text() -> str:
    raise Invalid.field("path", _("This file holds no text that could be shown; download it instead."))


def _etag(status: os.stat_result) -> str:
    return f"{status.st_ino:x}-{status.st_mtime_ns:x}-{status.st_size:x}"


def write_text(root: Root, path: str, text: str, *, etag: str | None, encoding: str = "utf-8") -> str:
    """Replace the file whose `etag` was read (None: a new file) with the text; returns the new etag.

    `Conflict` if the file changed meanwhile or, for a new one, exists already. Readers see the old or the new file,
    never half of one.
    """
    data = _encoded(text, encoding)
    *folders, name = split_path(path) or ("",)
    if not name:
        raise Invalid.field("path", _("A file needs a name."))
    with (
        write_budget(row_of(root)) as budget,
        disk_errors_as_refusals(),
        open_folder_by_names(root.path, folders) as parent,
    ):
        before = _current(parent, name)
        if (None if before is None else _etag(before)) != etag:
            raise _changed(etag)
        budget.take(len(data), 1 if before is None else 0)
        with replacing(parent, name, mode=0o644 if before is None else stat.S_IMODE(before.st_mode)) as descriptor:
            write_all(descriptor, data)
        budget.give(0 if before is None else before.st_size)
        return _etag(os.stat(name, dir_fd=parent, follow_symlinks=False))


def _encoded(text: str, encoding: str) -> bytes:
    if encoding not in (*ENCODINGS, "utf-8-sig", "utf-16"):
        raise Invalid.field("encoding", _("This encoding is not known."))
    try:
        data = text.encode(encoding)
    except UnicodeEncodeError as error:
        raise Invalid.field("text", _("The text holds a character that the file's encoding cannot write.")) from error
    if len(data) > MAX_TEXT:
        raise Invalid.field("text", _("The text is larger than 1 MiB; upload it as a file."))
    return data


def _current(parent: int, name: str) -> os.stat_result | None:
    try:
        status = os.stat(name, dir_fd=parent, follow_symlinks=False)
    except FileNotFoundError:
        return None
    if not stat.S_ISREG(status.st_mode):
        raise Conflict(_("Something else of this name is there already."))
    return status


def _changed(etag: str | None) -> Conflict:
    if etag is None:
        return Conflict(_("Something of this name is there already."))
    return Conflict(
        _("The file was changed by someone else meanwhile."),
        hint=_("Copy your text, open the file again and put your changes in."),
    )
