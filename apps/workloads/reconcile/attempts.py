"""The reconcile loop: claim due attempts, ask their driver outside the transaction, write under the fence."""

import logging
from datetime import timedelta

from django.db import transaction
from django.db.models import F, Q

from apps.common.actor import Actor
from apps.common.clock import db_now
from apps.workloads import crediting, saving, start_rights
from apps.workloads.choices import Desired, Status
from apps.workloads.drivers.base import CannotSee, Driver, DriverError, Handle, LaunchRefused
from apps.workloads.hardware.eviction import is_evicted
from apps.workloads.models import Attempt
from apps.workloads.nodes import driver_named
from apps.workloads.queueing import preempting
from apps.workloads.reconcile import outcome, preempted_attempts
from apps.workloads.reconcile.launch import launch_request
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
    except Exception:
        log.exception("pre-emptions, stops and credits could not be swept")


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
    driver = driver_named(attempt.node.driver)
    status = Status(attempt.workload.status)
    now = db_now()
    known = preempting.known_of(attempt)
    evicted, notice = is_evicted(attempt, now), preempting.run_out(known, now)
    if attempt.handle is None:
        if attempt.workload.desired == Desired.STOPPED and not _may_exist(attempt):
            outcome.never_started(actor, claim)
            return
        if (evicted or notice) and not _may_exist(attempt):
            outcome.moved_on(actor, claim, notice)
            return
        if attempt.workload.desired == Desired.RUNNING and _unauthorised(actor, claim):
            return
        if not _launch(actor, claim, driver):
            return
    handle = Handle.from_dict(attempt.handle or {})
    preempted_attempts.tell(driver, handle, known, now)
    if evicted or attempt.workload.desired == Desired.STOPPED or status is Status.STOPPING:
        driver.stop(handle, saving.grace_s(attempt.workload, attempt.stop_asked_at, GRACE_S))
    elif notice is not None:
        driver.stop(handle, preempted_attempts.grace_s(notice))
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
            start_rights.tell(attempt.workload, why)
        return False
    outcome.unauthorised(actor, claim, why)
    return True


def _launch(actor: Actor, claim: Claim, driver: Driver) -> bool:
    """Hand the attempt to the driver; "already there" means adopt. False: it was refused for good."""
    attempt = claim.attempt
    try:
        handle = driver.launch(launch_request(attempt))
    except LaunchRefused as refusal:
        outcome.refused(actor, claim, refusal)
        return False
    except CannotSee:
        raise
    except DriverError as error:
        log.warning("launch of attempt %s failed, trying again: %s", attempt.pk, error)
        return False
    attempt.handle = handle.as_dict()
    started = start(actor, claim, attempt.handle)
    if started:
        return True
    # Asked to stop meanwhile: keep the handle, so that the stop reaches the process.
    mine = Attempt.objects.filter(pk=attempt.pk, fence=claim.fence, ended_at__isnull=True)
    if mine.update(handle=attempt.handle):
        return True
    if Attempt.objects.filter(pk=attempt.pk, given_up_at__isnull=False).exists():
        driver.stop(handle, 0.0)  # its machine was declared lost while this call was under way
    return False
