"""Uploads in parts, after the manner of tus: made, appended to at a known offset, sealed when all is there.

A part file lies outside the tree; its length is the truth about what has come, so a lost answer, a reload or a killed
server costs one part at most. The room for the whole file is taken when it is begun.
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
from apps.storage.choices import Clash, FolderKind
from apps.storage.models import Folder, Upload, Volume
from apps.storage.objects import write_all
from apps.storage.operations import in_words, put
from apps.storage.roots import Root, limited_row, resolve, row_of
from apps.storage.safe_open import FOLDER, folder_of_names, give_open, open_regular, parts_of
from apps.storage.usage import guard

PART_BYTES = 8 << 20
MAX_PART = 16 << 20
MAX_FILE = 1 << 42  # 4 TiB
MAX_OPEN = 1000
KEPT = timedelta(hours=24)


class WrongOffset(Conflict):
    """The part does not begin where the file ends; `offset` is where it does."""

    code = "wrong_offset"

    def __init__(self, offset: int) -> None:
        super().__init__(_("This part does not continue the file."), fields={"offset": str(offset)})
        self.offset = offset


def begin(
    actor: Actor, root: Root, *, path: str, size: int, clash: Clash = Clash.KEEP_BOTH, fingerprint: str = ""
) -> tuple[Upload, int]:
    """The upload and its offset; the actor's own of the same file to the same place is continued.

    Raises `Invalid`, `QuotaExceeded` where it would not fit, `Conflict` with too many open ones.
    """
    disk.refuse_when_full()
    names = parts_of(path)
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
    with transaction.atomic(), guard(_fitted(root)) as budget:
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
        drafts.fit(row)
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
    """Write a part at `offset`; the new offset. `WrongOffset` where the file ends elsewhere.

    What came of a part that broke off stays: the next one begins there.
    """
    resolve(actor, upload.root_kind, upload.root_id, write=True)
    disk.refuse_when_full()
    with in_words(), open(part_path(upload), "ab", buffering=0) as part:
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
    """Put a whole file in its place; its path there, None where its name was taken and it was to be skipped.

    Made anew in the same step: folders on the way. `Conflict` while bytes are missing.
    """
    root = resolve(actor, upload.root_kind, upload.root_id, write=True)
    if offset_of(upload) != upload.size:
        raise WrongOffset(offset_of(upload))
    *folders, name = parts_of(upload.path)
    with guard(row_of(root)) as budget, in_words():
        with folder_of_names(root.path, folders, create=True) as target:
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
            give_open(descriptor, target)
        finally:
            os.close(descriptor)
        placed = put(source, part.name, target, name, Clash(upload.clash))
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
    """Forget it: the bytes that came, and the room that was kept for the rest."""
    with transaction.atomic():
        if not Upload.objects.filter(pk=upload.pk).delete()[0]:
            return
        try:
            row = limited_row(upload.root_kind, upload.root_id)
        except NotFound:
            row = None
        if row is not None:
            with guard(row) as budget:
                budget.give(upload.size, 1)
    part_path(upload).unlink(missing_ok=True)


def sweep() -> int:
    """Cancel what nobody has continued for a day; how many. Call in the platform's scope."""
    stale = list(Upload.objects.filter(touched_at__lt=db_now() - KEPT)[:200])
    for upload in stale:
        cancel(upload)
    return len(stale)


def part_path(upload: Upload) -> Path:
    return disk.data_root() / str(upload.organisation_id) / "uploads" / f"{upload.pk}.part"
