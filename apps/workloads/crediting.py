"""Giving back what was charged for work that its owner lost by no fault of their own.

An attempt that gave way, or that its node or the platform failed, has to do again what it did since its last
checkpoint: that time is metered, and credited. What is due is a row with a null `lost_s`; `sweep` may be repeated by
anybody, and whoever dies on the way, the next turn goes on.
"""

import logging
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from django.db import transaction

from apps.billing import services as billing
from apps.billing.choices import CreditCause
from apps.common.actor import Actor
from apps.workloads import announce
from apps.workloads.choices import CREDITED
from apps.workloads.models import Attempt

log = logging.getLogger(__name__)

EVENT = "credit"
"""The kind of its events. Data: `lost_s`, `credited_fen`, `cause`, `attempt`."""

AT_ONCE = 50


@dataclass(frozen=True, slots=True)
class LostWork:
    """Seconds of work since the last checkpoint, or since the start; whole fen that were given back for them."""

    seconds: float = 0.0
    credited_fen: int = 0

    def as_data(self) -> dict[str, Any]:
        return {"lost_s": round(self.seconds, 1), "credited_fen": self.credited_fen}


def credit(actor: Actor, attempt: Attempt, cause: CreditCause) -> LostWork:
    """Measure and credit what an ended attempt lost. Repeated: what was given back first stands.

    Call it in the transaction that writes that it was done. Raises `Conflict` while its time is being charged.
    """
    since = kept_until(attempt)
    if since is None or attempt.ended_at is None:
        return LostWork()
    seconds = max(0.0, (attempt.ended_at - since).total_seconds())
    return LostWork(seconds, billing.credit_lost(actor, session_id=attempt.pk, since=since, cause=cause))


def kept_until(attempt: Attempt) -> datetime | None:
    """Up to when its work is not lost: its last checkpoint, or its start; None for what never ran."""
    if attempt.started_at is None or attempt.checkpoint_at is None:
        return attempt.started_at
    return max(attempt.started_at, attempt.checkpoint_at)


def sweep(actor: Actor) -> None:
    """Credit what faults of nodes and of the platform ended. One attempt's trouble must not keep others waiting."""
    due = Attempt.objects.filter(fault__in=sorted(CREDITED), lost_s__isnull=True, ended_at__isnull=False)
    for pk in list(due.order_by("ended_at").values_list("pk", flat=True)[:AT_ONCE]):
        try:
            _credit_fault(actor, pk)
        except Exception:
            log.exception("the lost work of attempt %s could not be credited", pk)


def _credit_fault(actor: Actor, pk: UUID) -> None:
    """Measured, credited, written and told together, so once."""
    with transaction.atomic():
        rows = Attempt.objects.filter(pk=pk, lost_s__isnull=True).select_related("workload")
        attempt = rows.select_for_update(of=("self",), no_key=True, skip_locked=True).first()
        if attempt is None:
            return
        lost = credit(actor, attempt, CreditCause(attempt.fault))
        Attempt.objects.filter(pk=pk).update(lost_s=lost.seconds, credited_fen=lost.credited_fen)
        if not lost.seconds:
            return
        data = {**lost.as_data(), "cause": attempt.fault, "attempt": attempt.number}
        announce.event(actor, attempt.workload, EVENT, data)
        if lost.credited_fen:
            announce.tell_owner(attempt.workload, "credited", data, str(attempt.pk))
