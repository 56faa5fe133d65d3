"""Saved first, then stopped: what a rule ends (no money, a spending cap, its longest run time) loses nothing.

The wish is two columns of the workload, its reason and its latest moment. What runs in a kind whose files are saved
from outside is saved by its own app, which then stops it; everything else is asked to end at once and has until that
moment to write its checkpoint. Whoever dies on the way: `sweep` stops what is over its time, saved or not.
"""

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from django.db import transaction
from django.db.models import Q

from apps.common.actor import Actor
from apps.common.clock import db_now
from apps.workloads import announce, kinds, nudge, states
from apps.workloads.choices import LIVE, Reason, Status
from apps.workloads.models import Workload

EVENT = "saving"
"""The kind of its events. Data: `act` (asked, called_off), `reason`, `by`."""


def ask(actor: Actor, workload: Workload, why: Reason, *, by: datetime, only: Q | None = None) -> bool:
    """Have it saved and stopped by `by`; False where it has been asked already or is ending.

    `only`: what must still hold of the row as it is written, so that whoever took the reason away first has won.
    """
    with transaction.atomic():
        rows = Workload.objects.filter(pk=workload.pk, status__in=LIVE - {Status.STOPPING}, stop_reason="")
        rows = rows if only is None else rows.filter(only)
        if not rows.update(stop_reason=why, stop_by=by):
            return False
        workload.refresh_from_db()
        if workload.status == Status.RUNNING and kinds.kind_of(workload).saved_from_outside:
            announce.event(actor, workload, EVENT, {"act": "asked", "reason": why, "by": by.isoformat()})
        else:
            states.stop(actor, workload, why_of(workload))
    nudge.reconcile()
    return True


def call_off(actor: Actor, workload: Workload, why: Reason) -> bool:
    """The reason is gone; False where it is being stopped already, or for another reason."""
    with transaction.atomic():
        rows = Workload.objects.filter(pk=workload.pk, status=Status.RUNNING, stop_reason=why)
        if not rows.update(stop_reason="", stop_by=None):
            return False
        workload.refresh_from_db()
        announce.event(actor, workload, EVENT, {"act": "called_off", "reason": why})
        return True


def sweep(actor: Actor) -> int:
    """Stop what is over its time, or does not run any more and so has nothing to save; how many."""
    over = Q(stop_by__lte=db_now()) | ~Q(status=Status.RUNNING)
    rows = Workload.objects.filter(over, stop_by__isnull=False, status__in=LIVE - {Status.STOPPING})
    return sum(states.stop(actor, workload, why_of(workload)) for workload in rows)


def why_of(workload: Workload) -> states.Why:
    """The reason for which it is to be stopped."""
    why = Reason(workload.stop_reason)
    return states.Why(why, reason_data(workload, why))


def reason_data(workload: Workload, why: Reason) -> dict[str, Any]:
    """What the sentence about this reason needs."""
    if why is Reason.LONGEST:
        return {"longest_s": workload.longest_s}
    return {"minutes": workload.gpu_idle_minutes} if why is Reason.GPU_IDLE else {}


def grace_s(workload: Workload, asked_at: datetime | None, least: float) -> float:
    """From SIGTERM to SIGKILL: until its latest moment. The same whenever it is asked."""
    if workload.stop_by is None or asked_at is None:
        return least
    return max(least, (workload.stop_by - asked_at).total_seconds())


def words_data(event: Mapping[str, Any]) -> tuple[str, str]:
    """(`act`, `reason`) of one of its events."""
    return str(event.get("act", "")), str(event.get("reason", ""))
