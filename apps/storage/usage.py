"""How much a tree holds: counted for writes through the platform, measured for what programs write."""

import time
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path
from types import TracebackType
from typing import Self
from uuid import UUID

from django.db import transaction
from django.db.models import BigIntegerField, DurationField, ExpressionWrapper, F, Q, Sum, Value
from django.db.models.functions import Cast, Coalesce, Greatest, Now
from django.utils.translation import gettext_lazy as _

from apps.common.clock import db_now
from apps.common.errors import NotFound, QuotaExceeded
from apps.common.formatting import file_size
from apps.notifications.services import notify_user
from apps.storage import disk
from apps.storage.choices import OPEN_JOBS, JobKind
from apps.storage.models import LEAST_FILES, MIB, MIB_FILES, Folder, FolderKind, Job, Limited, Upload, Volume
from apps.storage.mounted import written_folders
from apps.storage.safe_open import TooDeep, walk

STEP = 8 * MIB
FILE_STEP = 64
# A tree that takes long to measure is measured less often: at most a tenth of the time goes into it.
RARER = 10
# How long one tree is walked, and to how many entries beyond its limit, before it counts as over its limit.
PATIENCE_S = 300.0
BEYOND = 4
# How long trees of one organisation are measured before it is another one's turn.
SLICE_S = 60.0
# How long deleting waits to learn what was freed; the next measurement finds the rest.
BRIEF_S = 1.0


class Budget:
    """Bytes and entries (files and folders) that may still be written to one volume or folder, taken from its row in
    steps of 8 MiB and 64 entries.

    Any number of processes may write at once: each step is one conditional UPDATE, so together they never exceed the
    limit. What was reserved and not used is returned on exit.
    """

    def __init__(self, row: Limited) -> None:
        self._rows = type(row).objects.filter(pk=row.pk)
        self._left = 0
        self._entries = 0
        self._since: datetime | None = None

    def take(self, count: int, entries: int = 0) -> None:
        """Call before writing `count` bytes and creating `entries` files or folders. Raises `QuotaExceeded`."""
        short, fewer = max(0, count - self._left), max(0, entries - self._entries)
        if short or fewer:
            wanted = max(short, STEP) if short else 0, max(fewer, FILE_STEP) if fewer else 0
            if not (self._reserve(*wanted) or self._reserve(short, fewer)):
                self._refuse(short)
        self._left -= count
        self._entries -= entries

    def give(self, count: int, entries: int = 0) -> None:
        """Record that this much was removed or replaced."""
        self._left += count
        self._entries += entries

    def _reserve(self, count: int, entries: int) -> bool:
        fits = Q(size_mib__isnull=True) | Q(used_bytes__lte=Cast("size_mib", BigIntegerField()) * MIB - count)
        most = Greatest(Cast(Coalesce("size_mib", 0), BigIntegerField()) * MIB_FILES, Value(LEAST_FILES))
        rows = self._rows.filter(fits, file_count__lte=most - entries) if entries else self._rows.filter(fits)
        taken = rows.update(used_bytes=F("used_bytes") + count, file_count=F("file_count") + entries, touched_at=Now())
        if taken:
            self._left += count
            self._entries += entries
            self._since = db_now()
        return bool(taken)

    def _refuse(self, short: int) -> None:
        disk.require_free_space()
        row = self._rows.first()
        limit = row.limit_bytes if row is not None else 0
        if row is None or (limit is not None and row.used_bytes + short > limit):
            raise QuotaExceeded(
                _("It is full: no more than %(limit)s fit in.") % {"limit": file_size(limit or 0)},
                hint=_("Delete something, or make it larger."),
            )
        raise QuotaExceeded(
            _("It is full: no more than %(count)s files and folders fit in.") % {"count": row.limit_files},
            hint=_("Delete some, or pack many small files into one."),
        )

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._left or self._entries:
            # What was reserved ahead before a measurement began, that has left out already: it counts what is there.
            self._rows.update(touched_at=Now())
            rows = self._rows if self._since is None else self._rows.exclude(measured_at__gt=self._since)
            rows.update(
                used_bytes=Greatest(F("used_bytes") - self._left, 0),
                file_count=Greatest(F("file_count") - self._entries, 0),
            )
            self._left = self._entries = 0


def write_budget(row: Limited) -> Budget:
    """The budget of a volume or folder; use it as a context manager around writes."""
    return Budget(row)


@dataclass(frozen=True, slots=True)
class Measured:
    """`entries` counts files, folders and whatever else has a name; `complete` False: there is more than that."""

    entries: int
    size: int
    complete: bool = True


def measure(
    root: Path, names: Sequence[str] = (), *, most: int | None = None, patience_s: float = PATIENCE_S
) -> Measured:
    """Entries and their bytes below a folder; links are not followed, holes of sparse files not counted.

    Stops at `most` entries, after `patience_s`, and at folders nested too deep. Raises `NotFound`.
    """
    entries = size = 0
    until = time.monotonic() + patience_s
    try:
        for found in walk(root, tuple(names)):
            entries += 1
            if found.is_file:
                size += min(found.status.st_size, found.status.st_blocks * 512)
            if (most is not None and entries > most) or (entries % 256 == 0 and time.monotonic() > until):
                return Measured(entries, size, complete=False)
    except TooDeep:
        return Measured(entries, size, complete=False)
    return Measured(entries, size)


def due_organisations() -> list[UUID]:
    """Organisations with trees that may have changed since they were measured, longest waiting first."""
    return list(dict.fromkeys(row.organisation_id for row in due_trees()))


def measure_due(organisation_id: UUID | None = None) -> int:
    """Measure trees that may have changed since the last measurement, for about `SLICE_S`; returns how many."""
    until, count = time.monotonic() + SLICE_S, 0
    for row in due_trees(organisation_id):
        if time.monotonic() > until:
            break
        measure_row(row)
        count += 1
    return count


def due_trees(organisation_id: UUID | None = None) -> list[Volume | Folder]:
    """Trees to measure, oldest first, of one organisation or of all. Call in the platform's scope."""
    ids, now = [UUID(path.rpartition("/")[2]) for path in written_folders()], db_now()
    changed = Q(pk__in=ids) | Q(measured_at__isnull=True) | Q(touched_at__gt=F("measured_at"))
    # What was measured too recently for its size is left out here already, so that it takes no room in the list.
    pause = ExpressionWrapper(F("measuring_ms") * timedelta(milliseconds=RARER), output_field=DurationField())
    rested = Q(measured_at__isnull=True) | Q(measured_at__lt=now - pause)
    mine = Q() if organisation_id is None else Q(organisation_id=organisation_id)
    oldest = F("measured_at").asc(nulls_first=True)
    homes = Folder.objects.filter(changed, rested, mine, kind__in=[FolderKind.HOME, FolderKind.DRAFT])
    rows: list[Volume | Folder] = [
        *Volume.objects.filter(changed, rested, mine).order_by(oldest)[:200],
        *homes.order_by(oldest)[:200],
    ]
    return sorted(rows, key=lambda row: (row.measured_at is not None, row.measured_at))


def measure_row(row: Volume | Folder) -> None:
    """Measure one tree now. Writes during the walk are counted on top, so the sum only ever errs upwards."""
    rows = type(row).objects.filter(pk=row.pk)
    before, known = rows.values_list("used_bytes", "file_count").first() or (0, 0)
    began, clock = db_now(), time.monotonic()
    try:
        found = measure(disk.data_root() / row.relative_path, most=BEYOND * row.limit_files)
    except NotFound:
        found = Measured(0, 0)
    # What cannot be counted counts as more than the limit, so that nobody can hide data there.
    entries = found.entries if found.complete else max(found.entries, row.limit_files + 1)
    size, arriving = _arriving(row.pk)
    rows.update(
        used_bytes=found.size + size + Greatest(F("used_bytes") - before, 0),
        file_count=entries + arriving + Greatest(F("file_count") - known, 0),
        measured_at=began,
        measuring_ms=round((time.monotonic() - clock) * 1000),
    )
    row.refresh_from_db()
    _notify_over_limit(row)


def _arriving(root_id: UUID) -> tuple[int, int]:
    """Bytes and entries reserved by open uploads, and what jobs have staged so far."""
    uploads = Upload.objects.filter(root_id=root_id)
    jobs = Job.objects.filter(subject_id=root_id, status__in=OPEN_JOBS, kind__in=STAGED)
    sums = jobs.aggregate(size=Sum("done_bytes"), entries=Sum("done_files"))
    size: int = (uploads.aggregate(size=Sum("size"))["size"] or 0) + (sums["size"] or 0)
    return size, uploads.count() + (sums["entries"] or 0)


# Jobs whose files lie aside until all of them are there.
STAGED = frozenset({JobKind.COPY, JobKind.MOVE, JobKind.UNPACK})


def _notify_over_limit(row: Volume | Folder) -> None:
    """Notify once when a tree exceeds its limit, and reset that when it is below again."""
    rows = type(row).objects.filter(pk=row.pk)
    if not row.is_over:
        rows.filter(over_since__isnull=False).update(over_since=None)
        return
    data = {
        "id": str(row.pk),
        "name": getattr(row, "name", ""),
        "used": row.used_bytes,
        "limit": row.limit_bytes,
        "files": row.file_count,
        "most_files": row.limit_files,
    }
    with transaction.atomic():
        if rows.filter(over_since__isnull=True).update(over_since=Now()):
            kind = _NOTICES[type(row)]
            notify_user(organisation_id=row.organisation_id, user_id=row.owner_id, kind=kind, data=data)


_NOTICES: dict[type[Limited], str] = {Volume: "storage.volume_over_limit", Folder: "storage.home_over_limit"}
