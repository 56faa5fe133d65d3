"""The one place that writes a transfer's status, and what goes with it. Who works on one holds the platform's scope."""

from typing import Any

from django.db import transaction
from django.db.models import F, QuerySet
from django.db.models.functions import Coalesce, Now

from apps.registry.choices import OPEN_TRANSFERS, WAITING_FOR_PEOPLE, TransferProblem, TransferStatus
from apps.registry.distribution.capacity import OverCapacity, capacity_of, lock_capacity
from apps.registry.models import ImageTransfer

MOST_TRIES = 10
_STARTED = (TransferStatus.QUEUED, TransferStatus.RUNNING)


def begin(transfer: ImageTransfer) -> bool:
    """Somebody works on it from now on; False if it has ended. Begun again after a death, it goes on."""
    begun = {"tries": F("tries") + 1, "started_at": Coalesce("started_at", Now())}
    if _rows(transfer).filter(status__in=_STARTED).update(status=TransferStatus.RUNNING, **begun):
        return True
    return bool(_rows(transfer).filter(status=TransferStatus.FINISHING).update(**begun))


def uploaded(transfer: ImageTransfer, source: str) -> bool:
    """Its archive is here, under this name."""
    queued = {"status": TransferStatus.QUEUED, "source": source}
    return bool(_rows(transfer).filter(status=TransferStatus.UPLOADING).update(**queued))


def ask_which(transfer: ImageTransfer, offered: list[str]) -> bool:
    """The archive has several images: somebody has to say which is meant. False if it has ended."""
    asked = {"status": TransferStatus.CHOOSING, "offered": offered, "waiting_since": Now(), "tries": 0}
    return bool(_rows(transfer).filter(status=TransferStatus.RUNNING).update(**asked))


def choose(transfer: ImageTransfer, image: str) -> bool:
    chosen = {"status": TransferStatus.QUEUED, "image": image, "offered": []}
    return bool(_rows(transfer).filter(status=TransferStatus.CHOOSING).update(**chosen))


def cleared(transfer: ImageTransfer) -> None:
    """Nothing of its archive is left."""
    _rows(transfer).update(archive=None)


def pin(transfer: ImageTransfer, digest: str) -> bool:
    """What it copies; False if it has ended, as of the others here."""
    transfer.digest = digest
    return bool(_working(transfer).update(digest=digest))


def measure(transfer: ImageTransfer, *, total: int, layers: int) -> bool:
    return bool(_working(transfer).update(total_bytes=total, layers=layers))


def reserve(transfer: ImageTransfer, added: int) -> bool:
    """Keep room for so many bytes of the organisation's capacity. Raises `OverCapacity`."""
    with transaction.atomic():
        lock_capacity(transfer.organisation_id)
        capacity = capacity_of(transfer.organisation_id, besides=[transfer.pk])
        if added > capacity.left:
            raise OverCapacity(capacity, added)
        return bool(_working(transfer).update(added_bytes=added))


def progress(transfer: ImageTransfer, *, done: int, layers_done: int) -> bool:
    """How far it is; a layer that came whole makes the tries count anew."""
    changed: dict[str, Any] = {"done_bytes": done, "layers_done": layers_done}
    if layers_done > transfer.layers_done:
        changed["tries"] = 1
    transfer.layers_done = layers_done
    return bool(_working(transfer).update(**changed))


def finishing(transfer: ImageTransfer) -> bool:
    """All is here: from now on nobody cancels it."""
    return bool(_working(transfer).update(status=TransferStatus.FINISHING, done_bytes=F("total_bytes")))


def succeed(transfer: ImageTransfer) -> bool:
    return _end(transfer, [TransferStatus.FINISHING], status=TransferStatus.SUCCEEDED)


def fail(transfer: ImageTransfer, problem: TransferProblem, params: dict[str, Any]) -> bool:
    changed = {"status": TransferStatus.FAILED, "problem": problem, "problem_params": params}
    return _end(transfer, sorted(OPEN_TRANSFERS), **changed)


def stop(transfer: ImageTransfer) -> bool:
    """Cancel it; False if that is too late."""
    return _end(transfer, [*_STARTED, *sorted(WAITING_FOR_PEOPLE)], status=TransferStatus.STOPPED)


def _end(transfer: ImageTransfer, before: list[TransferStatus], **changed: Any) -> bool:
    ended: dict[str, Any] = {"credential": None, "ended_at": Now(), "added_bytes": 0, "offered": []}
    return bool(_rows(transfer).filter(status__in=before).update(**changed, **ended))


def _working(transfer: ImageTransfer) -> QuerySet[ImageTransfer]:
    return _rows(transfer).filter(status__in=(TransferStatus.RUNNING, TransferStatus.FINISHING))


def _rows(transfer: ImageTransfer) -> QuerySet[ImageTransfer]:
    return ImageTransfer.objects.filter(pk=transfer.pk)
