"""Recreate files from a manifest: real copies if programs may write to them, else links to the store."""

import errno
import fcntl
import os
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from pathlib import Path

from apps.common.errors import Conflict
from apps.storage.models import EntryKind, Manifest, ManifestEntry
from apps.storage.objects import FICLONE, Tick, object_path
from apps.storage.safe_open import SAFE, open_folder_by_names, open_regular

CHUNK = 8 << 20
Progress = Callable[[int, int], None]


def materialise(
    manifest: Manifest,
    target: Path,
    *,
    read_only: bool = False,
    progress: Progress | None = None,
) -> None:
    """Write the manifest's tree into `target`, a folder that nobody else can reach yet; it may hold part of it already.

    With `read_only`, files are links to the store's own (which no program may then be let write to); otherwise copies
    with their mode and time of change. Raises `Conflict` for an unfinished manifest, OSError.
    """
    if not manifest.complete:
        raise Conflict("the manifest is not complete")
    target.mkdir(parents=True, exist_ok=True)
    tick = None if progress is None else partial(progress, 0, 0)
    for entry in ManifestEntry.objects.filter(manifest=manifest).order_by("path").iterator(chunk_size=2000):
        *folders, name = entry.path.split("/")
        # A walk through a folder that changes may have met a link and, later, a folder in its place: follow none.
        with open_folder_by_names(target, folders, create=True) as parent:
            _make(entry, parent, name, read_only, tick)
        if progress is not None:
            progress(1, entry.size)


def _make(entry: ManifestEntry, parent: int, name: str, read_only: bool, tick: Tick | None) -> None:
    if entry.kind == EntryKind.FOLDER:
        with suppress(FileExistsError):
            os.mkdir(name, 0o755, dir_fd=parent)
    elif entry.kind == EntryKind.LINK:
        with suppress(FileExistsError):
            os.symlink(entry.target, name, dir_fd=parent)
    elif not (read_only and _link(entry, parent, name)):
        _copy(entry, parent, name, tick)


def _link(entry: ManifestEntry, parent: int, name: str) -> bool:
    """Link the file; False if it needs its own inode: it is executable, or has as many links as the disk allows."""
    if entry.mode & 0o111:
        return False
    try:
        os.link(_content(entry), name, dst_dir_fd=parent)
    except FileExistsError:
        return True
    except OSError as error:
        if error.errno in (errno.EMLINK, errno.EXDEV, errno.EPERM):
            return False
        raise
    return True


def _content(entry: ManifestEntry) -> Path:
    return object_path(entry.organisation_id, bytes(entry.sha256 or b""))


def _copy(entry: ManifestEntry, parent: int, name: str, tick: Tick | None) -> None:
    part = f".{entry.pk}.part"
    with suppress(FileNotFoundError):  # of a try that was killed
        os.unlink(part, dir_fd=parent)
    source = os.open(_content(entry), os.O_RDONLY | SAFE)
    target = open_regular(parent, part, os.O_WRONLY | os.O_CREAT | os.O_EXCL)
    try:
        copy_content(source, target, tick)
        os.fchmod(target, entry.mode & 0o777)
        changed = int(entry.stamp.partition(":")[0] or 0)
        os.utime(target, ns=(changed, changed))
    finally:
        os.close(source)
        os.close(target)
    os.rename(part, name, src_dir_fd=parent, dst_dir_fd=parent)


def copy_content(source: int, target: int, tick: Tick | None = None) -> None:
    """Copy all bytes of an open file into an empty one: by shared blocks if the disk can, else inside the kernel.

    `tick` is called for each piece, and may raise to give up.
    """
    try:
        fcntl.ioctl(target, FICLONE, source)
        return
    except OSError:
        left = os.fstat(source).st_size
    while left > 0 and (sent := os.sendfile(target, source, None, min(left, CHUNK))):
        left -= sent
        if tick is not None:
            tick()
