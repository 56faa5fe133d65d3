"""The one place that writes an export's status. `fence` rises with each claim: only the newest one counts."""

from datetime import timedelta
from typing import Any

from django.db import transaction
from django.db.models import QuerySet

from apps.billing.export_choices import OPEN_EXPORTS, ExportStatus
from apps.billing.models import Export, ExportPart
from apps.common.claiming import claim_columns, oldest_claimable
from apps.common.clock import db_now

# A worker reports every few thousand rows; one that has been silent for this long was killed.
SILENT = timedelta(minutes=3)
# How long a file can be downloaded, and how long its row stays in the list.
KEPT = timedelta(days=7)
LISTED = timedelta(days=90)


def claim() -> Export | None:
    """Claim the oldest export that nobody works on and delete what an earlier claimant left behind."""
    with transaction.atomic():
        export: Export | None = oldest_claimable(
            Export.objects.all(), queued=ExportStatus.QUEUED, running=ExportStatus.RUNNING, silent_after=SILENT
        )
        if export is None:
            return None
        Export.objects.filter(pk=export.pk).update(status=ExportStatus.RUNNING, done_rows=0, **claim_columns())
        ExportPart.objects.filter(export=export).delete()
        export.refresh_from_db()
        return export


def report_progress(export: Export, *, done: int, total: int) -> bool:
    """Record progress, which also renews the claim; False if it was cancelled or another worker has claimed it."""
    return bool(_ours(export).update(done_rows=done, total_rows=max(total, done), beat_at=db_now()))


def store_part(export: Export, number: int, content: bytes) -> bool:
    """Store a part of the file if the claim is still ours."""
    with transaction.atomic():
        if not _ours(export).update(beat_at=db_now()):
            return False
        ExportPart.objects.create(
            organisation_id=export.organisation_id, export_id=export.pk, number=number, content=content
        )
        return True


def finish(export: Export, *, size: int, digest: str, rows: int, amount_fen: int | None, covers_all: bool) -> bool:
    """Mark the file as complete and downloadable if the claim is still ours."""
    now = db_now()
    return bool(
        _ours(export).update(
            status=ExportStatus.READY,
            size=size,
            digest=digest,
            covers_all=covers_all,
            done_rows=rows,
            total_rows=rows,
            amount_fen=amount_fen,
            ended_at=now,
            expires_at=now + KEPT,
        )
    )


def fail(export: Export, error: str) -> bool:
    """Record why it failed (a code or a sentence) if the claim is still ours."""
    with transaction.atomic():
        ours = bool(_ours(export).update(status=ExportStatus.FAILED, error=error[:300], ended_at=db_now()))
        if ours:
            ExportPart.objects.filter(export_id=export.pk).delete()
        return ours


def cancel(export: Export) -> bool:
    """Cancel it; the worker notices at its next rows. False if it had ended."""
    with transaction.atomic():
        rows = Export.objects.filter(pk=export.pk, status__in=OPEN_EXPORTS)
        ended = bool(rows.update(status=ExportStatus.CANCELLED, ended_at=db_now()))
        if ended:
            ExportPart.objects.filter(export_id=export.pk).delete()
        return ended


def expire() -> int:
    """Delete expired files and old rows of the list; return how many files."""
    now = db_now()
    with transaction.atomic():
        due = Export.objects.filter(status=ExportStatus.READY, expires_at__lte=now)
        ended = list(due.select_for_update(skip_locked=True).values_list("pk", flat=True))
        Export.objects.filter(pk__in=ended).update(status=ExportStatus.EXPIRED)
        ExportPart.objects.filter(export_id__in=ended).delete()
    Export.objects.exclude(status__in=[*OPEN_EXPORTS, ExportStatus.READY]).filter(ended_at__lt=now - LISTED).delete()
    return len(ended)


def _ours(export: Export) -> "QuerySet[Export, Any]":
    rows: QuerySet[Export, Any] = Export.objects.filter(pk=export.pk, status=ExportStatus.RUNNING, fence=export.fence)
    return rows
