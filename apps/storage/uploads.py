"""Uploads in parts, similar to tus: created, appended to at a known offset, sealed once complete.

A part file is outside the tree; its length says how much has arrived, so a lost response, a reload or a killed server
costs at most one part. Space for the whole file is reserved at the beginning.
"""

import fcntl
import os
from collections.abc import Iterable
from datetime import timedelta
from pathlib import Path
from uuid import UUID

from django.db import transaction
from django.db.models.functions import Now
from django.utils.translation import gettext_lazy as _

from apps.common.actor import Actor
from apps.common.clock import db_now
from apps.common.errors import Conflict, Invalid, NotFound
from apps.storage import disk, drafts
from apps.storage.choices import Clash, FolderKind, RootKind
from apps.storage.models import Folder, Upload, Volume
from apps.storage.objects import write_all
from apps.storage.operations import disk_errors_as_refusals, move_entry
from apps.storage.roots import Root, limited_row, resolve, row_of
from apps.storage.safe_open import FOLDER, copy_owner_of_open, open_folder_by_names, open_regular, split_path
from apps.storage.usage import write_budget

PART_BYTES = 8 << 20
MAX_PART = 16 << 20
MAX_FILE = 1 << 42  # 4 TiB
MAX_OPEN = 1000
KEPT = timedelta(hours=24)


class WrongOffset(Conflict):
    """The part does not begin where the file ends; `offset` is the file's end."""

    code = "wrong_offset"

    def __init__(self, offset: int) -> None:
        super().__init__(_("This part does not continue the file."), fields={"offset": str(offset)})
        self.offset = offset


def begin(
    actor: Actor, root: Root, *, path: str, size: int, clash: Clash = Clash.KEEP_BOTH, fingerprint: str = ""
) -> tuple[Upload, int]:
    """Begin an upload, or continue the actor's own of the same file to the same place; returns it and its offset.

    Raises `Invalid`, `QuotaExceeded` if it would not fit, `Conflict` with too many open ones.
    """
    disk.require_free_space()
    names = split_path(path)
    if not names:
        raise Invalid.field("path", _("A file needs a name."))
    if not 0 <= size <= MAX_FILE:
        raise Invalid.field("size", _("A file may have 4 TiB at most."))
    mine = Upload.objects.filter(owner_id=actor.person(), root_kind=root.kind, root_id=root.id)
    known = mine.filter(path="/".join(names), size=size, fingerprint=fingerprint).first() if fingerprint else None
    if known is not None:
        Upload.objects.filter(pk=known.pk).update(clash=clash, touched_at=Now())
        known.clash = clash
        return known, offset_of(known)
    if mine.count() >= MAX_OPEN:
        raise Conflict(_("Too many files are being uploaded at once."), hint=_("Wait until some are done."))
    with transaction.atomic(), write_budget(_fitted(root)) as budget:
        budget.take(size, 1)
        upload: Upload = Upload.objects.create(
            organisation_id=root.organisation_id,
            owner_id=actor.person(),
            root_kind=root.kind,
            root_id=root.id,
            path="/".join(names),
            size=size,
            clash=clash,
            fingerprint=fingerprint[:200],
        )
        part_path(upload).parent.mkdir(parents=True, exist_ok=True)
        part_path(upload).touch(mode=0o600)
    return upload, 0


def _fitted(root: Root) -> Volume | Folder:
    row = row_of(root)
    if isinstance(row, Folder) and row.kind == FolderKind.DRAFT:
        drafts.update_limit(row)
    return row


def get(actor: Actor, upload_id: UUID) -> Upload:
    """An upload of the actor's own; `NotFound` otherwise."""
    upload: Upload | None = Upload.objects.filter(pk=upload_id, owner_id=actor.person()).first()
    if upload is None:
        raise NotFound
    return upload


def offset_of(upload: Upload) -> int:
    """Bytes that have arrived."""
    try:
        return part_path(upload).stat().st_size
    except FileNotFoundError:
        return 0


def append(actor: Actor, upload: Upload, *, offset: int, chunks: Iterable[bytes]) -> int:
    """Write a part at `offset`; returns the new offset. `WrongOffset` if the file ends elsewhere.

    What has arrived of an interrupted part stays: the next one begins there.
    """
    resolve(actor, upload.root_kind, upload.root_id, write=True)
    disk.require_free_space()
    with disk_errors_as_refusals(), open(part_path(upload), "ab", buffering=0) as part:
        fcntl.flock(part, fcntl.LOCK_EX)  # two tabs with one file take turns; the second one's offset is wrong then
        at = os.fstat(part.fileno()).st_size
        if at != offset:
            raise WrongOffset(at)
        for chunk in chunks:
            if at + len(chunk) > upload.size:
                raise Invalid(_("More bytes came than the file was said to have."))
            write_all(part.fileno(), chunk)
            at += len(chunk)
    Upload.objects.filter(pk=upload.pk).update(touched_at=Now())
    return at


def finish(actor: Actor, upload: Upload) -> str | None:
    """Put a complete file in its place; returns its path, None if its name was taken and it was to be skipped.

    Creates missing folders. `Conflict` while bytes are missing.
    """
    root = resolve(actor, upload.root_kind, upload.root_id, write=True)
    if offset_of(upload) != upload.size:
        raise WrongOffset(offset_of(upload))
    *folders, name = split_path(upload.path)
    with write_budget(row_of(root)) as budget, disk_errors_as_refusals():
        with open_folder_by_names(root.path, folders, create=True) as target:
            before = _size(target, name) if upload.clash == Clash.REPLACE else None
            placed = _place(upload, target, name)
        budget.give(*(upload.size, 1) if placed is None else (before or 0, 0 if before is None else 1))
        Upload.objects.filter(pk=upload.pk).delete()
    return "/".join((*folders, placed)) if placed else None


def _place(upload: Upload, target: int, name: str) -> str | None:
    part = part_path(upload)
    source = os.open(part.parent, FOLDER)
    try:
        descriptor = open_regular(source, part.name, os.O_WRONLY)
        try:
            os.fchmod(descriptor, 0o644)
            copy_owner_of_open(descriptor, target)
        finally:
            os.close(descriptor)
        placed = move_entry(source, part.name, target, name, Clash(upload.clash))
    finally:
        os.close(source)
    if placed is None:
        part.unlink()
    return placed


def _size(parent: int, name: str) -> int | None:
    """Bytes of what is there already; None where nothing is."""
    try:
        return os.stat(name, dir_fd=parent, follow_symlinks=False).st_size
    except FileNotFoundError:
        return None


def cancel(upload: Upload) -> None:
    """Cancel it: remove its bytes and release the reserved space."""
    with transaction.atomic():
        if not Upload.objects.filter(pk=upload.pk).delete()[0]:
            return
        try:
            row = limited_row(upload.root_kind, upload.root_id)
        except NotFound:
            row = None
        if row is not None:
            with write_budget(row) as budget:
                budget.give(upload.size, 1)
    part_path(upload).unlink(missing_ok=True)


def cancel_into(folder: Folder) -> None:
    """Cancel all that is on its way into a folder that is to be removed."""
    for upload in Upload.objects.filter(root_kind=RootKind.FOLDER, root_id=folder.pk):
        cancel(upload)


def sweep() -> int:
    """Cancel uploads that nobody has continued for a day; returns how many. Call in the platform's scope."""
    stale = list(Upload.objects.filter(touched_at__lt=db_now() - KEPT)[:200])
    for upload in stale:
        cancel(upload)
    return len(stale)


def part_path(upload: Upload) -> Path:
    return disk.data_root() / str(upload.organisation_id) / "uploads" / f"{upload.pk}.part"
