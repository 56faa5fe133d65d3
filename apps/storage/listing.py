"""The contents of a folder, page by page: reads all names, but calls stat only for those shown."""

import os
import stat
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from apps.storage.safe_open import HIDDEN, open_folder, split_path

PER_PAGE = 100
Key = Callable[[os.DirEntry[str]], tuple[object, ...]]


@dataclass(frozen=True, slots=True)
class Entry:
    """One file or folder; `size` in bytes, 0 for folders. `path` is relative to the root."""

    name: str
    path: str
    is_folder: bool
    size: int
    modified: datetime


@dataclass(frozen=True, slots=True)
class Page:
    """Entries of one page; `total` counts all that match, `number` starts with 1."""

    entries: tuple[Entry, ...]
    total: int
    number: int
    pages: int


def page_of(
    root: Path, path: str = "", *, search: str = "", order: str = "name", number: int = 1, per_page: int = PER_PAGE
) -> Page:
    """Folders first, then files, in `order` (`name`, `size`, `modified`, with `-` the other way round).

    Links and special files are not shown. Raises `NotFound`, `Invalid`.
    """
    wanted = search.casefold()
    with open_folder(root, path) as parent, os.scandir(parent) as found:
        shown = [entry for entry in found if _is_shown(entry) and wanted in entry.name.casefold()]
        shown.sort(key=_ORDERS.get(order.lstrip("-"), _by_name), reverse=order.startswith("-"))
        shown.sort(key=lambda entry: not entry.is_dir(follow_symlinks=False))
        pages = max(1, -(-len(shown) // per_page))
        number = min(max(1, number), pages)
        part = shown[(number - 1) * per_page : number * per_page]
        prefix = "".join(f"{name}/" for name in split_path(path))
        entries = tuple(entry for one in part if (entry := _entry(one, prefix)) is not None)
    return Page(entries, len(shown), number, pages)


def _is_shown(entry: os.DirEntry[str]) -> bool:
    if entry.name.startswith(HIDDEN):
        return False
    return entry.is_file(follow_symlinks=False) or entry.is_dir(follow_symlinks=False)


def _by_name(entry: os.DirEntry[str]) -> tuple[object, ...]:
    return (entry.name.casefold(),)


def _by_size(entry: os.DirEntry[str]) -> tuple[object, ...]:
    return (_stat(entry, "st_size"), entry.name.casefold())


def _by_time(entry: os.DirEntry[str]) -> tuple[object, ...]:
    return (_stat(entry, "st_mtime"), entry.name.casefold())


_ORDERS: dict[str, Key] = {"name": _by_name, "size": _by_size, "modified": _by_time}


def _stat(entry: os.DirEntry[str], name: str) -> float:
    try:
        return float(getattr(entry.stat(follow_symlinks=False), name))
    except FileNotFoundError:
        return 0.0


def _entry(found: os.DirEntry[str], prefix: str) -> Entry | None:
    try:
        status = found.stat(follow_symlinks=False)
    except FileNotFoundError:  # gone since the folder was read
        return None
    is_folder = stat.S_ISDIR(status.st_mode)
    return Entry(
        name=readable(found.name),
        path=readable(prefix + found.name),
        is_folder=is_folder,
        size=0 if is_folder else status.st_size,
        modified=datetime.fromtimestamp(status.st_mtime, UTC),
    )


def readable(name: str) -> str:
    """A name that is not valid text, with marks for undecodable bytes; it cannot be opened by that name."""
    return name.encode(errors="surrogateescape").decode(errors="replace")


def folders_of(root: Path, path: str = "", *, limit: int = 500) -> list[Entry]:
    """The folders in a folder, by name: one level of the tree in which a person chooses a target."""
    with open_folder(root, path) as parent, os.scandir(parent) as entries:
        names = sorted((entry for entry in entries if _is_folder(entry)), key=_by_name)[:limit]
        prefix = "".join(f"{name}/" for name in split_path(path))
        return [entry for one in names if (entry := _entry(one, prefix)) is not None]


def _is_folder(entry: os.DirEntry[str]) -> bool:
    return entry.is_dir(follow_symlinks=False)
