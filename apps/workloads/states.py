"""The only place that writes a workload's status.

Each verb is one conditional UPDATE: it names the statuses it may leave and, for results of a claim, the fence.
Zero rows updated means that someone else got there first, and nothing else is written. The event, the audit
row, the meter, the quota and the released slices share its transaction.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any

from django.db import transaction
from django.db.models import Exists, OuterRef, Subquery
from django.db.models.functions import Now

from apps.billing import services as billing
from apps.clusters.models import Node, Zone
from apps.common.actor import Actor
from apps.tenants import quotas
from apps.workloads import announce
from apps.workloads.choices import TERMINAL, Desired, Fault, Kind, PreemptionOutcome, Reason, Status
from apps.workloads.deadlines import deadline_expression
from apps.workloads.models import Attempt, Member, Placement, Preemption, Workload
from apps.workloads.resources import holder_of, quota_amounts

S = Status

TRANSITIONS: Mapping[Status, frozenset[Status]] = {
    S.QUEUED: frozenset({S.PLACED, S.STOPPED, S.FAILED}),
    S.PLACED: frozenset({S.STARTING, S.STOPPING, S.QUEUED, S.FAILED, S.STOPPED}),
    S.STARTING: frozenset({S.RUNNING, S.STOPPING, S.QUEUED, S.FAILED, S.STOPPED}),
    S.RUNNING: frozenset({S.STOPPING, S.SUCCEEDED, S.FAILED, S.STOPPED, S.QUEUED}),
    S.STOPPING: frozenset({S.STOPPED, S.SUCCEEDED, S.FAILED, S.QUEUED}),
    S.SUCCEEDED: frozenset(),
    S.FAILED: frozenset(),
    S.STOPPED: frozenset(),
}


# What leaves the queue without a start needs no room kept any more.
_NOTHING_PROMISED: Mapping[str, Any] = {"promised_nodes": [], "promised_at": None}
# What waits again has no start, and so no end of its time.
_NOT_RUNNING: Mapping[str, Any] = {"started_at": None, "deadline_at": None, "deadline_told_at": None}


@dataclass(frozen=True, slots=True)
class Why:
    """Reason of a change: a code, what its sentence needs, and whose matter it is."""

    reason: Reason
    data: Mapping[str, Any] = field(default_factory=dict)
    fault: Fault = Fault.NOBODY


@dataclass(frozen=True, slots=True)
class Claim:
    """The right to write one result for an attempt: void as soon as somebody claims it again."""

    attempt: Attempt
    fence: int


def place(
    actor: Actor,
    workload: Workload,
    attempt: Attempt,
    placements: Sequence[Placement],
    members: Sequence[Member] = (),
    **terms: int,
) -> bool:
    """queued → placed: the attempt and what it holds come into being together with the status.

    `members`: of a gang. `terms`: `package_id` and `price_version_id` of the option that it was given, where there were
    several.
    """
    columns: dict[str, Any] = {"attempt_number": attempt.number, "explanation": {}, **terms}
    with transaction.atomic():
        moved = _move(actor, workload, S.PLACED, Why(Reason.NONE), **columns)
        if moved:
            attempt.save(force_insert=True)
            if members:
                Member.objects.bulk_create(members)
            Placement.objects.bulk_create(placements)
        return moved


def start(actor: Actor, claim: Claim, handle: Mapping[str, str]) -> bool:
    """placed → starting: the driver has taken it over."""
    with transaction.atomic():
        moved = _move(actor, claim.attempt.workload, S.STARTING, Why(Reason.NONE), claim=claim)
        if moved:
            Attempt.objects.filter(pk=claim.attempt.pk).update(handle=dict(handle))
        return moved


def run(actor: Actor, claim: Claim, at: datetime) -> bool:
    """starting → running at the first proof of it; the meter opens at `at`."""
    workload = claim.attempt.workload
    with transaction.atomic():
        deadline = deadline_expression(workload, at)
        moved = _move(actor, workload, S.RUNNING, Why(Reason.NONE), claim=claim, started_at=at, deadline_at=deadline)
        if moved:
            facts = Node.everything.filter(pk=claim.attempt.node_id).values("facts")[:1]
            Attempt.objects.filter(pk=claim.attempt.pk).update(started_at=at, machine_facts=Subquery(facts))
            open_meter(claim.attempt, at)
        return moved


def open_meter(attempt: Attempt, at: datetime) -> None:
    """The attempt's usage session; idempotent, so a stop that overtakes the first proof may open it too.

    None on simulated hardware, unless its zone is billed: nothing is charged that was never metered.
    """
    workload = attempt.workload
    if workload.simulated and not Zone.everything.filter(clusters__nodes=attempt.node_id, billed=True).exists():
        return
    billing.open_meter(
        session_id=attempt.pk,
        organisation_id=workload.organisation_id,
        user_id=workload.owner_id,
        workload_id=workload.pk,
        label=workload.name,
        price_version_id=workload.price_version_id,
        at=at,
        replicas=attempt.member_count,
        set_id=workload.replica_set_id,
        tags=workload.tags,
    )


def stop(actor: Actor, workload: Workload, why: Why) -> bool:
    """→ stopping for what is on a node; → stopped at once for what still waits. False: it had ended already."""
    with transaction.atomic():
        Workload.objects.filter(pk=workload.pk).exclude(status__in=TERMINAL).update(desired=Desired.STOPPED)
        if _move(actor, workload, S.STOPPED, why, sources={S.QUEUED}, ended_at=Now(), **_NOTHING_PROMISED):
            _let_go(workload)
            return True
        moved = _move(actor, workload, S.STOPPING, why)
        if moved:
            Attempt.objects.filter(workload=workload, ended_at__isnull=True).update(
                stop_asked_at=Now(), next_check_at=Now()
            )
        return moved


def finish(actor: Actor, claim: Claim, to: Status, why: Why, at: datetime, **result: Any) -> bool:
    """→ succeeded, failed or stopped, at `at`. `result` are the attempt's exit columns."""
    workload = claim.attempt.workload
    with transaction.atomic():
        moved = _move(actor, workload, to, why, claim=claim, tell=False, ended_at=at)
        if moved:
            _end_attempt(claim, at, result, PreemptionOutcome.FINISHED)
            _let_go(workload)
            announce.tell_of_end(actor, workload)  # now that its meter is closed, with what it cost
        return moved


def requeue(actor: Actor, claim: Claim, why: Why, at: datetime, **result: Any) -> bool:
    """→ queued again, as after the loss of a node: this attempt ends, quota and price stay reserved."""
    with transaction.atomic():
        moved = _move(
            actor,
            claim.attempt.workload,
            S.QUEUED,
            why,
            claim=claim,
            queued_at=Now(),
            explanation={},
            **_NOT_RUNNING,
        )
        if moved:
            gave_way = why.reason is Reason.PREEMPTED
            outcome = PreemptionOutcome.REQUEUED if gave_way else PreemptionOutcome.FINISHED
            _end_attempt(claim, at, result, outcome)
        return moved


def replace(actor: Actor, claim: Claim, why: Why, at: datetime, pause: timedelta, **result: Any) -> bool:
    """→ queued for another try, into the queue after `pause`: of a replica that ended although it is to serve.

    Nothing is written once somebody has asked it to end: the next look then sees that end.
    """
    with transaction.atomic():
        moved = _move(
            actor,
            claim.attempt.workload,
            S.QUEUED,
            why,
            sources={S.PLACED, S.STARTING, S.RUNNING},
            claim=claim,
            queued_at=Now() + pause,
            started_at=None,
            explanation={},
        )
        if moved:
            _end_attempt(claim, at, result, PreemptionOutcome.FINISHED)
        return moved


def fail_waiting(actor: Actor, workload: Workload, why: Why) -> bool:
    """queued → failed: it can never start, whatever is freed."""
    with transaction.atomic():
        moved = _move(actor, workload, S.FAILED, why, sources={S.QUEUED}, ended_at=Now(), **_NOTHING_PROMISED)
        if moved:
            _let_go(workload)
        return moved


def _move(
    actor: Actor,
    workload: Workload,
    to: Status,
    why: Why,
    *,
    sources: set[Status] | None = None,
    claim: Claim | None = None,
    tell: bool = True,
    **columns: Any,
) -> bool:
    allowed = {source for source, targets in TRANSITIONS.items() if to in targets} & (sources or set(Status))
    rows = Workload.objects.filter(pk=workload.pk, status__in=allowed)
    if claim is not None:
        rows = rows.filter(
            Exists(
                Attempt.objects.filter(
                    workload=OuterRef("pk"), pk=claim.attempt.pk, fence=claim.fence, ended_at__isnull=True
                )
            )
        )
    moved = rows.update(
        status=to, status_since=Now(), reason=why.reason, reason_data=dict(why.data), fault=why.fault, **columns
    )
    if not moved:
        return False
    before = workload.status
    workload.refresh_from_db()
    announce.status_changed(actor, workload, before, tell=tell)
    return True


def _end_attempt(claim: Claim, at: datetime, result: Mapping[str, Any], outcome: PreemptionOutcome) -> None:
    """`outcome`: how a notice to give way ends with it, where there is one."""
    attempt = claim.attempt
    Attempt.objects.filter(pk=attempt.pk).update(ended_at=at, lease_until=None, **result)
    if attempt.workload.member_count > 1:
        Member.objects.filter(attempt=attempt, ended_at__isnull=True).update(ended_at=at)
    Placement.objects.filter(attempt=attempt, released_at__isnull=True).update(released_at=Now())
    Preemption.objects.filter(attempt=attempt, ended_at__isnull=True).update(outcome=outcome, ended_at=Now())
    billing.close_meter(session_id=attempt.pk, at=at)


def _let_go(workload: Workload) -> None:
    """What the workload reserved at submission goes back once it has ended for good."""
    quotas.release(
        organisation_id=workload.organisation_id,
        department_id=workload.department_id,
        user_id=workload.owner_id,
        amounts=quota_amounts(workload.frozen_spec, Kind(workload.kind)),
        holder=holder_of(workload.pk),
    )
    billing.release_hold(workload_id=workload.pk)
    if workload.stop_by is not None:
        Workload.objects.filter(pk=workload.pk).update(stop_reason="", stop_by=None)
