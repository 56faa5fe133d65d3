"""What an observation means for the rows. Times come from the database's clock and the driver's durations only."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Any

from django.db import transaction

from apps.billing import services as billing
from apps.clusters.models import Node
from apps.common.actor import Actor
from apps.common.clock import db_now
from apps.workloads import announce, nudge, start_rights, states
from apps.workloads.choices import Desired, Fault, Reason, Status
from apps.workloads.drivers.base import SECRET_WITHHELD, Exit, ExitReason, LaunchRefused, Observation, Phase
from apps.workloads.drivers.errors import LINK_DOWN
from apps.workloads.drivers.said import Said
from apps.workloads.hardware import black_holes
from apps.workloads.hardware.eviction import ended_by_eviction
from apps.workloads.models import Attempt, Preemption, Workload
from apps.workloads.reconcile import preempted_attempts
from apps.workloads.reconcile.observed import exit_columns, seen_columns
from apps.workloads.replicas import notices, replacing
from apps.workloads.states import Claim, Why

# After this many tries that their node lost within so many seconds of running, the workload fails instead of queueing
# again.
MAX_ATTEMPTS, EARLY_S = 3, 600.0


@dataclass(frozen=True, slots=True)
class OfGang:
    """What the sum of a gang's members does not say: the peaks of single ones, and whose end is the attempt's."""

    peaks: Mapping[str, Any]
    rank: int | None


def apply(actor: Actor, claim: Claim, seen: Observation, gang: OfGang | None = None) -> None:
    """Bring the rows to what was observed: started, progressed or ended. Safe to repeat."""
    now = db_now()
    started_at = _started_at(claim.attempt, seen, now)
    if started_at is not None and claim.attempt.started_at is None:
        _proved_running(actor, claim, started_at)
    if seen.phase.is_final:
        _ended(actor, claim, seen, started_at, now, gang)
        return
    _progress(claim, seen, now, gang)
    if started_at is not None and seen.ran_for_s is not None:
        billing.extend_meter(session_id=claim.attempt.pk, proven_until=started_at + timedelta(seconds=seen.ran_for_s))


def _started_at(attempt: Attempt, seen: Observation, now: datetime) -> datetime | None:
    """When running began. The driver proves a duration; only the database's clock says when "now" is."""
    if attempt.started_at is not None or seen.ran_for_s is None:
        return attempt.started_at
    return max(attempt.placed_at, now - timedelta(seconds=seen.ran_for_s))


def _proved_running(actor: Actor, claim: Claim, at: datetime) -> None:
    mine = Attempt.objects.filter(pk=claim.attempt.pk, fence=claim.fence)
    # Where a stop overtook the first proof, what ran is still metered.
    if not states.run(actor, claim, at) and mine.update(started_at=at):
        states.open_meter(claim.attempt, at)
    claim.attempt.started_at = at


def _ended(
    actor: Actor,
    claim: Claim,
    seen: Observation,
    started_at: datetime | None,
    now: datetime,
    gang: OfGang | None,
) -> None:
    attempt, end = claim.attempt, seen.exit or Exit(None, None, ExitReason.LOST)
    at = now if started_at is None else started_at + timedelta(seconds=seen.ran_for_s or 0.0)
    result = {**_columns(attempt, seen, now, gang), **exit_columns(end)}
    workload, at = attempt.workload, max(at, attempt.placed_at)
    if black_holes.is_swallowed(attempt, end, seen.ran_for_s):
        black_holes.record_loss(actor, attempt, now)
    notice = preempted_attempts.gives_way(attempt, workload, end, at, now)
    evicted = ended_by_eviction(attempt, workload, end, now)
    result["fault"] = Fault.NOBODY if notice is not None else fault_of(end)
    if notice is not None and not preempted_attempts.is_done(end, workload):
        states.requeue(actor, claim, preempted_attempts.why(notice), at, **result)
    elif notice is None and (evicted or _goes_back(end, workload, attempt)):
        states.requeue(actor, claim, _eviction(attempt) if evicted else _why(end, workload, gang), at, **result)
    elif replacing.is_replaced(workload):
        _replace(actor, claim, _why_replaced(end, workload), at, **result)
    else:
        done = notice is not None
        to = Status.SUCCEEDED if done else status_of(end, workload)
        states.finish(actor, claim, to, Why(Reason.FINISHED) if done else _why(end, workload, gang), at, **result)
        nudge.rate()
    nudge.schedule()


def _replace(actor: Actor, claim: Claim, why: Why, at: datetime, **result: Any) -> None:
    """Its owner is told together with it, where it has become one end too many."""
    failures = replacing.failures_in_a_row(claim.attempt, result.get("ran_for_s"))
    with transaction.atomic():
        if states.replace(actor, claim, why, at, replacing.pause(failures), **result):
            notices.tell_failing(claim.attempt.workload, failures)


def _why_replaced(end: Exit, workload: Workload) -> Why:
    """Why it is started again. A replica that ended well has not served on, which is its own doing."""
    return replace(why_of(end, workload), fault=fault_of(end) or Fault.USER)


def lost_with_node(actor: Actor, claim: Claim) -> bool:
    """End what went with its machine, which nobody can ask: at the last proof that it ran, whenever that becomes known.

    It is queued again where it is wanted, however often that has happened: a machine that dies proves nothing about
    the work. Where its end was asked for already, it has ended. False: somebody else was first.
    """
    attempt, workload = claim.attempt, claim.attempt.workload
    end = Exit(None, None, ExitReason.LOST)
    result = {"phase": Phase.LOST.value, "usage": {}, "progress": {}, "fault": Fault.NODE, **exit_columns(end)}
    at = last_proof(attempt)
    if workload.desired == Desired.RUNNING and workload.status != Status.STOPPING:
        why = Why(Reason.LOST, {"node": attempt.node.name}, Fault.NODE)
        ended = states.requeue(actor, claim, why, at, **result)
    else:
        ended = states.finish(actor, claim, Status.STOPPED, why_of(end, workload), at, **result)
    nudge.rate()
    nudge.schedule()
    return ended


def last_proof(attempt: Attempt) -> datetime:
    """Until when it is known to have run, or to have been on its machine."""
    if attempt.started_at is None:
        return max(attempt.placed_at, attempt.seen_at or attempt.placed_at)
    return attempt.started_at + timedelta(seconds=attempt.ran_for_s or 0.0)


def _goes_back(end: Exit, workload: Workload, attempt: Attempt) -> bool:
    """Lost by no fault of its own, and not too often; the times that it gave way or was moved do not count.

    Nor do the times that its machine was declared lost or swallowed work, or that it had run for a while: what ends
    soon after each start, on machines that live, may be the work's own doing.
    """
    if end.reason is not ExitReason.LOST or workload.desired != Desired.RUNNING:
        return False
    if (attempt.ran_for_s or 0.0) >= EARLY_S or Node.everything.exclude(quarantine="").filter(pk=attempt.node_id):
        return True
    early = Attempt.objects.filter(workload=workload, exit_reason=ExitReason.LOST, given_up_at__isnull=True)
    early = early.exclude(ran_for_s__gte=EARLY_S).exclude(pk=attempt.pk).exclude(black_holes.FORGIVEN)
    return early.count() + 1 < MAX_ATTEMPTS


def status_of(end: Exit, workload: Workload) -> Status:
    """A stop that was asked for ends as stopped, unless the program finished by itself first."""
    if end.succeeded:
        return Status.SUCCEEDED
    asked = workload.status == Status.STOPPING or workload.desired == Desired.STOPPED
    ended_by_stop = end.reason in {ExitReason.STOPPED, ExitReason.SIGNALLED, ExitReason.LOST}
    if asked and (ended_by_stop or end.reason is ExitReason.EXITED):
        return Status.STOPPED
    return Status.FAILED


def why_of(end: Exit, workload: Workload) -> Why:
    """The reason shown with the end: for a stop, who asked for it; for a failure, what and whose matter."""
    if status_of(end, workload) is Status.STOPPED:
        return Why(Reason(workload.reason or Reason.BY_PERSON), workload.reason_data)
    data: dict[str, Any] = {"code": end.code, "signal": end.signal, **_spoken(end.said, end.output)}
    return Why(Reason.FINISHED, {}) if end.succeeded else Why(_ENDS[end.reason][0], data, fault_of(end))


def _why(end: Exit, workload: Workload, gang: OfGang | None) -> Why:
    """The same, and which member of a gang it was."""
    why = why_of(end, workload)
    is_ones_own = gang is not None and gang.rank is not None and status_of(end, workload) is Status.FAILED
    return replace(why, data={**why.data, "rank": gang.rank}) if gang and is_ones_own else why


def _spoken(said: Said | None, output: str = "") -> dict[str, Any]:
    """Read by `words.recorded`; without a code, `detail` is shown as it is. `output`: beside what was said."""
    if said is None:
        return {"detail": output[-2000:]}
    return {"detail": str(said)[-2000:], "said": said.as_json(), **({"output": output[-2000:]} if output else {})}


def fault_of(end: Exit) -> Fault:
    """Whose matter the end was, whoever may have asked for it."""
    return Fault.NOBODY if end.succeeded else _ENDS[end.reason][1]


_ENDS: Mapping[ExitReason, tuple[Reason, Fault]] = {
    ExitReason.EXITED: (Reason.EXIT_CODE, Fault.USER),
    ExitReason.SIGNALLED: (Reason.SIGNAL, Fault.USER),
    ExitReason.STOPPED: (Reason.SIGNAL, Fault.USER),
    ExitReason.OOM: (Reason.OUT_OF_MEMORY, Fault.USER),
    ExitReason.DISK_LIMIT: (Reason.DISK_LIMIT, Fault.USER),
    ExitReason.FILE_LIMIT: (Reason.FILE_LIMIT, Fault.USER),
    ExitReason.DISK_FULL: (Reason.DISK_FULL, Fault.USER),
    ExitReason.START_FAILED: (Reason.START_FAILED, Fault.USER),
    ExitReason.IMAGE_FAILED: (Reason.IMAGE_FAILED, Fault.PLATFORM),
    ExitReason.MOUNT_FAILED: (Reason.MOUNT_FAILED, Fault.PLATFORM),
    ExitReason.LOST: (Reason.LOST, Fault.NODE),
}


def never_started(actor: Actor, claim: Claim) -> None:
    """Asked to stop before anything was launched."""
    workload = claim.attempt.workload
    why = Why(Reason(workload.reason or Reason.BY_PERSON), workload.reason_data)
    states.finish(actor, claim, Status.STOPPED, why, db_now(), exit_reason=ExitReason.STOPPED.value)
    nudge.schedule()


def unauthorised(actor: Actor, claim: Claim, why: Why) -> None:
    """A right that it needs ended after it was placed: stopped, with nothing launched."""
    if states.finish(actor, claim, Status.STOPPED, why, db_now(), exit_reason=ExitReason.STOPPED.value):
        start_rights.notify_of_refusal(claim.attempt.workload, why)
    nudge.schedule()


def moved_on(actor: Actor, claim: Claim, notice: Preemption | None = None) -> None:
    """It has to leave before anything was launched there: back into the queue."""
    why = preempted_attempts.why(notice) if notice is not None else _eviction(claim.attempt)
    states.requeue(actor, claim, why, db_now())
    nudge.schedule()


def _eviction(attempt: Attempt) -> Why:
    return Why(Reason.DRAINED, {"node": attempt.node.name}, Fault.NOBODY)


def refused(actor: Actor, claim: Claim, refusal: LaunchRefused) -> None:
    """The node will never take it: fail with its words, unless it was to stop anyway or had lost a right meanwhile.

    Where only a link of the node has gone down since the pass, it goes back into the queue.
    """
    workload = claim.attempt.workload
    if workload.desired == Desired.STOPPED:
        never_started(actor, claim)
        return
    if refusal.code == LINK_DOWN:
        states.requeue(actor, claim, Why(Reason.RDMA_DOWN, {"node": claim.attempt.node.name}, Fault.NODE), db_now())
        nudge.schedule()
        return
    lost = start_rights.refusals([workload]).get(workload.pk) if refusal.code == SECRET_WITHHELD else None
    if lost is not None:
        unauthorised(actor, claim, lost)
        return
    why = Why(Reason.REFUSED, {"code": refusal.code, **_spoken(refusal.said)}, Fault.PLATFORM)
    if replacing.is_replaced(workload):
        _replace(actor, claim, why, db_now(), exit_detail=refusal.text)
        return
    states.finish(actor, claim, Status.FAILED, why, db_now(), exit_detail=refusal.text)
    nudge.schedule()


def _columns(attempt: Attempt, seen: Observation, now: datetime, gang: OfGang | None) -> dict[str, Any]:
    return {**seen_columns(attempt, seen, now), **(gang.peaks if gang else {})}


def _progress(claim: Claim, seen: Observation, now: datetime, gang: OfGang | None) -> None:
    columns = _columns(claim.attempt, seen, now, gang)
    changed = columns["progress"] != claim.attempt.progress or seen.phase.value != claim.attempt.phase
    Attempt.objects.filter(pk=claim.attempt.pk, fence=claim.fence).update(**columns)
    if changed or seen.phase is Phase.RUNNING:
        announce.progressed(claim.attempt.workload)
