"""The reconcile loop: claim due attempts, ask their driver outside the transaction, write under the fence."""

import logging
from collections.abc import Sequence
from datetime import datetime, timedelta

from django.db import transaction
from django.db.models import F, Q

from apps.common.actor import Actor
from apps.common.clock import db_now
from apps.workloads import crediting, saving, start_rights
from apps.workloads.choices import Desired, Status
from apps.workloads.drivers.base import CannotSee, Driver, DriverError, Handle, LaunchRefused
from apps.workloads.drivers.capabilities import GangMixin
from apps.workloads.drivers.said import Code, Said
from apps.workloads.hardware.eviction import is_evicted
from apps.workloads.models import Attempt, Member, Preemption, Workload
from apps.workloads.nodes import driver_named
from apps.workloads.programs import Program, programs_of
from apps.workloads.queueing import preempting
from apps.workloads.reconcile import gangs, outcome, preempted_attempts
from apps.workloads.reconcile.launch import launch_request
from apps.workloads.reconcile.time_notices import deliver_time_notice
from apps.workloads.replicas import converge
from apps.workloads.states import Claim, start, stop

log = logging.getLogger(__name__)

# Longer than any driver call may take; a worker that dies leaves its claim to the next one after this.
LEASE = timedelta(seconds=30)
CHECK_AGAIN = timedelta(seconds=2)
GRACE_S = 20.0


def reconcile_due(actor: Actor, *, limit: int = 50) -> int:
    """Look at every attempt that is due; the number looked at."""
    _sweep(actor)
    claims = claim_due(limit)
    for claim in claims:
        _guarded(actor, claim)
    return len(claims)


def _sweep(actor: Actor) -> None:
    """Its trouble must not keep the attempts from being looked at."""
    try:
        preempting.sweep(actor)
        saving.sweep(actor)
        crediting.sweep(actor)
        converge.sweep(actor)
    except Exception:
        log.exception("pre-emptions, stops, credits and replicas could not be swept")


def claim_due(limit: int) -> list[Claim]:
    """Lease due attempts that nobody else holds. Each claim raises the fence, voiding what older claimants bring."""
    with transaction.atomic():
        now = db_now()
        due = (
            Attempt.objects.select_for_update(skip_locked=True, of=("self",))
            .filter(Q(lease_until__isnull=True) | Q(lease_until__lt=now), next_check_at__lte=now)
            .filter(ended_at__isnull=True, given_up_at__isnull=True)
            .select_related("workload", "node")
            .order_by("next_check_at")[:limit]
        )
        attempts = list(due)
        Attempt.objects.filter(pk__in=[a.pk for a in attempts]).update(fence=F("fence") + 1, lease_until=now + LEASE)
    return [Claim(attempt, attempt.fence + 1) for attempt in attempts]


def _guarded(actor: Actor, claim: Claim) -> None:
    """One attempt's trouble must not keep the others from being looked at."""
    try:
        _look(actor, claim)
    except CannotSee as error:
        log.info("cannot see attempt %s: %s", claim.attempt.pk, error)
    except Exception:
        log.exception("attempt %s could not be reconciled", claim.attempt.pk)
    finally:
        Attempt.objects.filter(pk=claim.attempt.pk, fence=claim.fence).update(
            lease_until=None, next_check_at=db_now() + CHECK_AGAIN
        )


def _look(actor: Actor, claim: Claim) -> None:
    attempt = claim.attempt
    status = Status(attempt.workload.status)
    now = db_now()
    known = preempting.preemption_of(attempt)
    evicted, notice = is_evicted(attempt, now), preempting.expired_notice(known, now)
    programs = programs_of(attempt)
    if attempt.handle is None:
        if attempt.workload.desired == Desired.STOPPED and not _may_exist(attempt):
            outcome.never_started(actor, claim)
            return
        if (evicted or notice) and not _may_exist(attempt):
            outcome.moved_on(actor, claim, notice)
            return
        if attempt.workload.desired == Desired.RUNNING and _unauthorised(actor, claim):
            return
        if not _launch(actor, claim, programs):
            return
    grace_s: float | None = None
    if evicted or attempt.workload.desired == Desired.STOPPED or status is Status.STOPPING:
        grace_s = saving.grace_s(attempt.workload, attempt.stop_asked_at, GRACE_S)
    elif notice is not None:
        grace_s = preempted_attempts.grace_s(notice)
    for program in programs:
        _ask(program, attempt.workload, known, now, grace_s)
    _observe(actor, claim, programs, now)


def _ask(program: Program, workload: Workload, known: Preemption | None, now: datetime, grace_s: float | None) -> None:
    """Let it find its notice, and stop it where it has to. One that cannot be asked keeps no other from being asked."""
    driver, handle = _where(program)
    try:
        preempted_attempts.deliver_notice(driver, handle, known, now)
        deliver_time_notice(driver, handle, workload, known, now)
        if grace_s is not None:
            driver.stop(handle, grace_s)
    except CannotSee as error:
        log.info("%s cannot be asked: %s", program.pk, error)


def _where(program: Program) -> tuple[Driver, Handle]:
    return driver_named(program.node.driver), Handle.from_dict(program.handle or {})


def _observe(actor: Actor, claim: Claim, programs: Sequence[Program], now: datetime) -> None:
    members = [program for program in programs if isinstance(program, Member)]
    if members:
        outcome.apply(actor, claim, *gangs.observe(claim, members, now, GRACE_S))
    else:
        driver, handle = _where(claim.attempt)
        outcome.apply(actor, claim, driver.observe(handle))


def _may_exist(attempt: Attempt) -> bool:
    """Whether a launch may have happened whose handle was never written: an earlier claimant may have died."""
    return attempt.fence > 0


def _unauthorised(actor: Actor, claim: Claim) -> bool:
    """Ask once more just before the launch, as rights may have ended since it was placed; whether that was its end.

    What an earlier claimant may have launched is asked to stop instead, once its handle is known.
    """
    attempt = claim.attempt
    why = start_rights.refusals([attempt.workload]).get(attempt.workload_id)
    if why is None:
        return False
    if _may_exist(attempt):
        if stop(actor, attempt.workload, why):
            start_rights.notify_of_refusal(attempt.workload, why)
        return False
    outcome.unauthorised(actor, claim, why)
    return True


def _launch(actor: Actor, claim: Claim, programs: Sequence[Program]) -> bool:
    """Hand every program to its driver; "already there" means adopt. False: refused for good, or not all are there."""
    for rank, program in enumerate(programs):
        try:
            if program.handle is None:
                program.handle = _launch_one(claim, programs, rank).as_dict()
        except LaunchRefused as refusal:
            # The members that are there already wait at their barrier, and have to go first.
            if _have_ended(programs[:rank]):
                outcome.refused(actor, claim, refusal)
            return False
        except CannotSee:
            raise
        except DriverError as error:
            log.warning("launch of %s failed, trying again: %s", program.pk, error)
            return False
    return _started(actor, claim, programs)


def _launch_one(claim: Claim, programs: Sequence[Program], rank: int) -> Handle:
    program, attempt = programs[rank], claim.attempt
    driver = driver_named(program.node.driver)
    members = [each for each in programs if isinstance(each, Member)]
    if members and not isinstance(driver, GangMixin):
        raise LaunchRefused("gang_unsupported", Said(Code.NO_GANGS))
    handle = driver.launch(launch_request(attempt, members, rank))
    if members:
        Member.objects.filter(pk=program.pk, attempt__fence=claim.fence).update(handle=handle.as_dict())
    return handle


def _have_ended(programs: Sequence[Program]) -> bool:
    for program in programs:
        driver, handle = _where(program)
        driver.stop(handle, 0.0)
        if not driver.observe(handle).phase.is_final:
            return False
    return True


def _started(actor: Actor, claim: Claim, programs: Sequence[Program]) -> bool:
    """Write that the drivers have it; the attempt's handle is that of rank 0."""
    attempt = claim.attempt
    attempt.handle = programs[0].handle or {}
    if start(actor, claim, attempt.handle):
        return True
    # Asked to stop meanwhile: keep the handle, so that the stop reaches the process.
    mine = Attempt.objects.filter(pk=attempt.pk, fence=claim.fence, ended_at__isnull=True)
    if mine.update(handle=attempt.handle):
        return True
    if Attempt.objects.filter(pk=attempt.pk, given_up_at__isnull=False).exists():
        for program in programs:  # its machine was declared lost while these calls were under way
            driver, handle = _where(program)
            driver.stop(handle, 0.0)
    return False
