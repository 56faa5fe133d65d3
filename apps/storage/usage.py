"""How much a tree holds: counted on every way in through the platform, measured for what programs write."""

import os
import stat
import time
from datetime import timedelta
from pathlib import Path
from types import TracebackType
from typing import Self
from uuid import UUID

from django.db import transaction
from django.db.models import BigIntegerField, F, Q
from django.db.models.functions import Cast, Greatest, Now
from django.utils.translation import gettext_lazy as _

from apps.common.clock import db_now
from apps.common.errors import QuotaExceeded
from apps.common.formatting import file_size
from apps.notifications.services import notify_user
from apps.storage import disk
from apps.storage.models import MIB, Folder, FolderKind, Limited, Upload, Volume
from apps.storage.mounted import written_folders

STEP = 8 * MIB
# A tree that takes long to measure is measured less often: at most a tenth of the time goes into it.
RARER = 10


class Budget:
    """Bytes that may still be written to one volume or folder, taken from its row in steps of 8 MiB.

    Any number of processes may write at once: each step is one conditional UPDATE, so together they never pass
    the limit. What was taken and not used goes back on leaving.
    """

    def __init__(self, row: Limited) -> None:
        self._rows = type(row).objects.filter(pk=row.pk)
        self._name = getattr(row, "name", "")
        self._left = 0

    def take(self, count: int) -> None:
        """Call before writing `count` more bytes. Raises `QuotaExceeded` where they do not fit."""
        short = count - self._left
        if short > 0:
            self._left += self._reserve(max(short, STEP)) or self._reserve(short) or self._refuse()
        self._left -= count

    def give(self, count: int) -> None:
        """So many bytes were removed or replaced."""
        self._left += count

    def _reserve(self, count: int) -> int:
        fits = Q(size_mib__isnull=True) | Q(used_bytes__lte=Cast("size_mib", BigIntegerField()) * MIB - count)
        taken = self._rows.filter(fits).update(used_bytes=F("used_bytes") + count, touched_at=Now())
        return count if taken else 0

    def _refuse(self) -> int:
        disk.refuse_when_full()
        limit = self._rows.values_list("size_mib", flat=True).first()
        raise QuotaExceeded(
            _("It is full: no more than %(limit)s fit in.") % {"limit": file_size((limit or 0) * MIB)},
            hint=_("Delete something, or make it larger."),
        )

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._left:
            self._rows.update(used_bytes=Greatest(F("used_bytes") - self._left, 0), touched_at=Now())
            self._left = 0


def guard(row: Limited) -> Budget:
    """The budget of a volume or folder, to be used as a context manager around writing."""
    return Budget(row)


def measure(root: Path) -> tuple[int, int]:
    """Number of files and their bytes below `root`; links are not followed, holes of sparse files not counted."""
    return measure_open(None, str(root))


def measure_open(parent: int | None, name: str) -> tuple[int, int]:
    """The same for an entry of an open folder."""
    count = size = 0
    for _folder, _folders, names, here in os.fwalk(name, follow_symlinks=False, dir_fd=parent):
        for each in names:
            try:
                found = os.stat(each, dir_fd=here, follow_symlinks=False)
            except FileNotFoundError:  # removed while we look
                continue
            count += 1
            size += min(found.st_size, found.st_blocks * 512) if stat.S_ISREG(found.st_mode) else 0
    return count, size


def measure_due() -> int:
    """Measure what may have changed since it was measured last; the number of trees. Call in the platform's scope."""
    ids, now = [UUID(path.rpartition("/")[2]) for path in written_folders()], db_now()
    changed = Q(pk__in=ids) | Q(measured_at__isnull=True) | Q(touched_at__gt=F("measured_at"))
    oldest = F("measured_at").asc(nulls_first=True)
    homes = Folder.objects.filter(changed, kind__in=[FolderKind.HOME, FolderKind.DRAFT])
    rows: list[Volume | Folder] = [
        *Volume.objects.filter(changed).order_by(oldest)[:200],
        *homes.order_by(oldest)[:200],
    ]
    due = [row for row in rows if row.measured_at is None or now - row.measured_at > _pause(row)]
    for row in due:
        measure_row(row)
    return len(due)


def _pause(row: Limited) -> timedelta:
    return timedelta(milliseconds=RARER * row.measuring_ms)


def measure_row(row: Volume | Folder) -> None:
    """Measure one tree now. What is written while we walk is counted on top, so the sum errs upwards only."""
    rows = type(row).objects.filter(pk=row.pk)
    before = rows.values_list("used_bytes", flat=True).first()
    began, clock = db_now(), time.monotonic()
    root = disk.data_root() / row.relative_path
    count, size = measure(root) if root.is_dir() else (0, 0)
    size += _arriving(row.pk)
    rows.update(
        used_bytes=size + Greatest(F("used_bytes") - (before or 0), 0),
        file_count=count,
        measured_at=began,
        measuring_ms=round((time.monotonic() - clock) * 1000),
    )
    row.refresh_from_db()
    _judge(row)


def _arriving(root_id: UUID) -> int:
    """Bytes that uploads under way have been promised."""
    return sum(Upload.objects.filter(root_id=root_id).values_list("size", flat=True))


def _judge(row: Volume | Folder) -> None:
    """Say once when a tree has come over its limit, and forget it when it is below again."""
    rows = type(row).objects.filter(pk=row.pk)
    if not row.is_over:
        rows.filter(over_since__isnull=False).update(over_since=None)
        return
    data = {"id": str(row.pk), "name": getattr(row, "name", ""), "used": row.used_bytes, "limit": row.limit_bytes}
    with transaction.atomic():
        if rows.filter(over_since__isnull=True).update(over_since=Now()):
            kind = _NOTICES[type(row)]
            notify_user(organisation_id=row.organisation_id, user_id=row.owner_id, kind=kind, data=data)


_NOTICES: dict[type[Limited], str] = {Volume: "storage.volume_over_limit", Folder: "storage.home_over_limit"}
