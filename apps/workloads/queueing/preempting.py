"""Giving way: asking an attempt to leave, calling it off, and giving back what was lost.

The life of a pre-emption is one row (`Preemption`): asked, then requeued, finished by itself, or called off. The
scheduling pass opens it; `states` closes it together with the attempt; `sweep` does what is left, and may be repeated
by anybody: whoever dies on the way, the next turn goes on.
"""

import logging
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any
from uuid import UUID

from django.db import transaction

import scheduler
from apps.billing.choices import CreditCause
from apps.common.actor import Actor
from apps.common.clock import db_now
from apps.workloads import announce, crediting, nudge
from apps.workloads.choices import Desired, PreemptionOutcome, PreemptionWhy, Status
from apps.workloads.models import Attempt, Preemption, Workload
from apps.workloads.queueing import policy

log = logging.getLogger(__name__)
Outcome = PreemptionOutcome

EVENT = "preemption"
"""The kind of its events. Data: `act` (asked, called_off, credited), the times, `why`, `priority` of one's own task."""

CREDITS_AT_ONCE = 50


def ask_to_leave(actor: Actor, preempts: Sequence[scheduler.Preempt], now: datetime) -> int:
    """Give notice to the attempts that the scheduler chose; the number that were asked by this call.

    Asked already, ended since the snapshot, on its way out or being looked at by somebody else: left alone, and the
    next pass decides again.
    """
    if not preempts:
        return 0
    rules = policy.rules()
    asked = sum(_ask(actor, preempt, rules, now) for preempt in preempts)
    if asked:
        nudge.reconcile()
    return asked


def _ask(actor: Actor, preempt: scheduler.Preempt, rules: policy.QueueSettings, now: datetime) -> bool:
    victims = Attempt.objects.filter(workload_id=UUID(preempt.task_id), ended_at__isnull=True)
    attempt = victims.select_related("workload").select_for_update(of=("self",), no_key=True, skip_locked=True).first()
    if attempt is None or not _may_be_asked(attempt.workload, preempt, rules):
        return False
    times: dict[str, Any] = {
        "for_workload_id": UUID(preempt.for_task_id),
        "why": preempt.why,
        "asked_at": now,
        "leave_at": now + rules.notice,
        "kill_at": now + rules.notice + rules.save,
    }
    if not _open(attempt, times):
        return False
    _tell(actor, attempt.workload, "asked", _words_of(attempt.workload, times), f"{attempt.pk}:{now.timestamp()}")
    return True


def _may_be_asked(workload: Workload, preempt: scheduler.Preempt, rules: policy.QueueSettings) -> bool:
    """What must not be interrupted goes for another organisation's guarantee alone, where the platform says so."""
    taken_back = preempt.why == PreemptionWhy.GUARANTEE and not rules.firm_over_guarantee
    leaving = workload.desired == Desired.STOPPED or workload.status == Status.STOPPING
    return workload.is_live and not leaving and (taken_back or workload.frozen_spec.preemptible)


def _open(attempt: Attempt, columns: Mapping[str, Any]) -> bool:
    """One row for each attempt: one that was called off is opened again. False: it has been asked already."""
    known = Preemption.objects.filter(attempt=attempt)
    if known.filter(outcome=Outcome.CALLED_OFF).update(**columns, outcome=Outcome.ASKED, ended_at=None):
        return True
    defaults = {"organisation_id": attempt.organisation_id, **columns}
    return bool(Preemption.objects.get_or_create(attempt=attempt, defaults=defaults)[1])


def _words_of(victim: Workload, times: Mapping[str, Any]) -> dict[str, Any]:
    """What the victim's owner is told: nothing of another organisation's task but the right that it has."""
    data = {"why": times["why"], "leave_at": times["leave_at"].isoformat(), "kill_at": times["kill_at"].isoformat()}
    gainer = Workload.objects.filter(pk=times["for_workload_id"], organisation_id=victim.organisation_id).first()
    return data if gainer is None else {**data, "priority": gainer.priority}


def preemption_of(attempt: Attempt) -> Preemption | None:
    """The attempt's row, open or closed: read anew each time, since it may have been called off meanwhile."""
    found: Preemption | None = Preemption.objects.filter(attempt_id=attempt.pk).first()
    return found


def expired_notice(known: Preemption | None, now: datetime) -> Preemption | None:
    """The row where it is open and its notice is over: from then on it is not called off any more."""
    return known if known is not None and known.ended_at is None and known.leave_at <= now else None


def sweep(actor: Actor) -> None:
    """What no single attempt's turn does: close what is over, call off what is needless, credit what was lost."""
    now = db_now()
    opened = list(Preemption.objects.filter(ended_at__isnull=True).select_related("attempt__workload"))
    waiting = _still_wait(opened)
    for notice in opened:
        if notice.attempt.ended_at is not None:
            _close(notice, Outcome.FINISHED, notice.attempt.ended_at)
        elif notice.leave_at > now and notice.for_workload_id not in waiting:
            _call_off(actor, notice)
    _credit_all(actor)


def _still_wait(opened: Sequence[Preemption]) -> set[UUID]:
    wanted = [notice.for_workload_id for notice in opened]
    return set(Workload.objects.filter(pk__in=wanted, status=Status.QUEUED).values_list("pk", flat=True))


def _close(notice: Preemption, outcome: Outcome, at: datetime, **conditions: Any) -> bool:
    rows = Preemption.objects.filter(pk=notice.pk, ended_at__isnull=True, **conditions)
    return bool(rows.update(outcome=outcome, ended_at=at))


def _call_off(actor: Actor, notice: Preemption) -> None:
    """The task found room elsewhere, or went away. Not once the program has been told to end."""
    with transaction.atomic():
        now = db_now()
        if _close(notice, Outcome.CALLED_OFF, now, leave_at__gt=now):
            key = f"{notice.attempt_id}:{notice.asked_at.timestamp()}"
            _tell(actor, notice.attempt.workload, "called_off", {"why": notice.why}, key)


def _credit_all(actor: Actor) -> None:
    """One attempt's trouble must not keep the others from their money; it is tried again next time."""
    due = Preemption.objects.filter(outcome=Outcome.REQUEUED, lost_s__isnull=True).order_by("pk")
    for pk in list(due.values_list("pk", flat=True)[:CREDITS_AT_ONCE]):
        try:
            _credit(actor, pk)
        except Exception:
            log.exception("the lost work of pre-emption %s could not be credited", pk)


def _credit(actor: Actor, pk: int) -> None:
    """Measured and credited together, so once: the minutes since the last checkpoint, or since the start."""
    with transaction.atomic():
        rows = Preemption.objects.filter(pk=pk, lost_s__isnull=True).select_related("attempt__workload")
        notice = rows.select_for_update(of=("self",), no_key=True, skip_locked=True).first()
        if notice is None:
            return
        attempt = notice.attempt
        lost = crediting.credit(actor, attempt, CreditCause.PREEMPTION)
        Preemption.objects.filter(pk=pk).update(lost_s=lost.seconds, credited_fen=lost.credited_fen)
        data = {**lost.as_data(), "why": notice.why, "attempt": attempt.number}
        _tell(actor, attempt.workload, "credited", data, str(attempt.pk))


_NOTICES = {"asked": "asked_to_leave", "called_off": "stays", "credited": "gave_way"}


def _tell(actor: Actor, workload: Workload, act: str, data: Mapping[str, Any], key: str) -> None:
    """An event on its page, and a notice to its owner; `key` makes it one notice for each time."""
    announce.event(actor, workload, EVENT, {"act": act, **data})
    announce.tell_owner(workload, _NOTICES[act], data, key)
