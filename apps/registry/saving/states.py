"""The one place that writes the status of an image saving, and what goes with it.

Who works on one claims it for a while; only the newest claimant's result is written. All but `cancel` hold the
platform's scope.
"""

from datetime import timedelta
from typing import Any
from uuid import UUID

from django.db import transaction
from django.db.models import F, QuerySet
from django.db.models.functions import Coalesce, Now

from apps.common.clock import db_now
from apps.registry.choices import OPEN_SAVINGS, SavingProblem, SavingStatus
from apps.registry.distribution.capacity import OverCapacity, capacity_of, lock_capacity
from apps.registry.models import ImageSaving

LEASE = timedelta(minutes=2)
EVERY_S = 2.0


def claim(saving_id: UUID) -> ImageSaving | None:
    """Claim one that is due for `LEASE`; None if somebody else has it or it has ended."""
    now = db_now()
    rows = ImageSaving.objects.filter(pk=saving_id, status__in=sorted(OPEN_SAVINGS), due_at__lte=now)
    if not rows.update(fence=F("fence") + 1, due_at=now + LEASE):
        return None
    found: ImageSaving | None = (
        ImageSaving.objects.select_related("owner", "workload", "attempt", "kept", "cancelled_by")
        .filter(pk=saving_id)
        .first()
    )
    return found


def saved(saving: ImageSaving, image: str) -> bool:
    """Its machine has it, and keeps it; False if somebody else has claimed it since, as of the others here."""
    saving.image = image
    values = {"status": SavingStatus.SENDING, "image": image, "tries": 0, "waits_since": None, "due_at": Now()}
    return bool(_claimed(saving).filter(status=SavingStatus.QUEUED).update(**values))


def reserve(saving: ImageSaving, added: int) -> bool:
    """Keep room for so many bytes of the organisation's capacity. Raises `OverCapacity`."""
    with transaction.atomic():
        lock_capacity(saving.organisation_id)
        capacity = capacity_of(saving.organisation_id, besides=[saving.pk])
        if added > capacity.left:
            raise OverCapacity(capacity, added)
        return bool(_claimed(saving).update(added_bytes=added))


def begin(saving: ImageSaving) -> bool:
    """From now on something of it may have been sent."""
    return bool(_claimed(saving).update(begun=True))


def progress(saving: ImageSaving, said: Any, fraction: float | None) -> bool:
    return _later(saving, EVERY_S, said=said, fraction=fraction, waits_since=None)


def wait(saving: ImageSaving, seconds: float, *, tried: bool = False) -> bool:
    """Its registry or machine cannot be reached; what the machine said last is not true any more."""
    tries = F("tries") + (1 if tried else 0)
    return _later(saving, seconds, said=None, fraction=None, waits_since=Coalesce("waits_since", Now()), tries=tries)


def look_again(saving: ImageSaving) -> bool:
    """Release the claim; soon somebody looks again."""
    return _later(saving, EVERY_S)


def cancel(saving: ImageSaving, by_id: int) -> bool:
    """Somebody wants it no more; the loop ends it. False if it has ended."""
    rows = ImageSaving.objects.filter(pk=saving.pk, status__in=sorted(OPEN_SAVINGS), cancelled_by=None)
    return bool(rows.update(cancelled_by=by_id))


def succeed(saving: ImageSaving) -> bool:
    return _end(saving, SavingStatus.SUCCEEDED, said=None)


def fail(saving: ImageSaving, problem: SavingProblem, params: dict[str, Any], said: Any = None) -> bool:
    return _end(saving, SavingStatus.FAILED, problem=problem, problem_params=params, said=said)


def stop(saving: ImageSaving) -> bool:
    return _end(saving, SavingStatus.STOPPED, said=None)


def _end(saving: ImageSaving, status: SavingStatus, **changed: Any) -> bool:
    ended = {"ended_at": Now(), "added_bytes": 0, "fraction": None, "waits_since": None}
    return bool(_claimed(saving).update(status=status, **changed, **ended))


def _later(saving: ImageSaving, seconds: float, **changed: Any) -> bool:
    return bool(_claimed(saving).update(due_at=db_now() + timedelta(seconds=seconds), **changed))


def _claimed(saving: ImageSaving) -> QuerySet[ImageSaving]:
    rows: QuerySet[ImageSaving] = ImageSaving.objects.filter(
        pk=saving.pk, fence=saving.fence, status__in=sorted(OPEN_SAVINGS)
    )
    return rows
