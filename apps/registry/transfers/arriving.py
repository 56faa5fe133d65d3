"""Archives on their way: uploaded as any file, in parts, into a folder that the transfer has for itself.

Once a file is complete in it the folder is sealed, and the transfer is queued. What has ended, or was left alone for a
day, gives its folder back, with whatever came of the upload.
"""

from datetime import timedelta
from pathlib import Path

from django.db import transaction

from apps.common.clock import db_now
from apps.registry.choices import WAITING_FOR_PEOPLE, TransferProblem, TransferStatus
from apps.registry.models import ImageTransfer
from apps.registry.transfers import states
from apps.registry.transfers.models import MAX_SOURCE
from apps.registry.transfers.planning import Failed
from apps.storage import services as storage
from apps.storage import uploads
from apps.storage.models import Upload
from apps.storage.safe_open import list_folder

KEPT_H = 24


def archive_path(transfer: ImageTransfer) -> Path:
    """Where the archive lies. Raises Failed for one that is gone."""
    found = _file_of(transfer)
    if found is None:
        raise Failed(TransferProblem.TRUNCATED)
    return found


def _file_of(transfer: ImageTransfer) -> Path | None:
    folder = transfer.archive
    if folder is None or not storage.root_of(folder).is_dir():
        return None
    files = [item for item in list_folder(storage.root_of(folder)) if not item.is_folder]
    return storage.root_of(folder) / files[0].name if files else None


def take_complete() -> None:
    """Queue each transfer whose archive is here. Call in the platform's scope, as all here."""
    waiting = ImageTransfer.objects.filter(status=TransferStatus.UPLOADING).select_related("archive")
    for transfer in waiting.order_by("created_at")[:200]:
        if transfer.archive is not None and _file_of(transfer) is not None:
            storage.seal(transfer.archive)
            found = _file_of(transfer)  # nobody changes it from now on
            if found is not None:
                states.uploaded(transfer, found.name[:MAX_SOURCE])


def unfinished(transfer: ImageTransfer) -> list[tuple[str, int]]:
    """Names of files that stopped on their way, and how many percent of each came."""
    if transfer.status != TransferStatus.UPLOADING or transfer.archive_id is None:
        return []
    rows = Upload.objects.filter(root_id=transfer.archive_id).order_by("created_at")[:5]
    return [(row.path, 100 * uploads.offset_of(row) // max(1, row.size)) for row in rows]


def left_alone() -> list[ImageTransfer]:
    """Those that have waited for a person for a day, while nothing came."""
    before = db_now() - timedelta(hours=KEPT_H)
    rows = ImageTransfer.objects.filter(status__in=sorted(WAITING_FOR_PEOPLE), waiting_since__lt=before)
    coming = Upload.objects.values("root_id")
    return list(rows.exclude(archive_id__in=coming).select_related("owner")[:200])


def clear_up() -> None:
    """Give back what ended transfers hold."""
    rows = ImageTransfer.objects.filter(archive__isnull=False, ended_at__isnull=False).select_related("archive")
    for transfer in rows[:200]:
        folder = transfer.archive
        if folder is not None:
            uploads.cancel_into(folder)
            with transaction.atomic():
                states.cleared(transfer)
                storage.remove_folder(folder)
