"""An attempt that was asked to give way, in the reconcile loop: told, stopped in time, and how its end counts."""

import logging
from datetime import datetime, timedelta

from apps.workloads import kinds
from apps.workloads.choices import Desired, Reason, Status
from apps.workloads.drivers.base import Driver, DriverError, Exit, ExitReason, Handle
from apps.workloads.drivers.capabilities import Notice, NoticeMixin
from apps.workloads.models import Attempt, Preemption, Workload
from apps.workloads.queueing import preempting
from apps.workloads.states import Why

log = logging.getLogger(__name__)

# For so long after it was called off, every look takes the notice back: one of them reaches the node.
TAKE_BACK = timedelta(minutes=1)


def deliver_notice(driver: Driver, handle: Handle, known: Preemption | None, now: datetime) -> None:
    """Let the program find its notice, or take back what was called off. A node that cannot say it is no obstacle."""
    if known is None or not isinstance(driver, NoticeMixin):
        return
    if known.ended_at is not None and now - known.ended_at > TAKE_BACK:
        return
    try:
        driver.tell(handle, _notice(known, now) if known.ended_at is None else None)
    except DriverError as error:
        log.info("attempt %s could not be told of its notice: %s", known.attempt_id, error)


def _notice(known: Preemption, now: datetime) -> Notice:
    return Notice(known.why, max(0.0, (known.leave_at - now).total_seconds()), grace_s(known))


def grace_s(notice: Preemption) -> float:
    """From SIGTERM to SIGKILL. Always all of it: a program that is told late, because nobody was there, loses nothing.

    Asking again does not lengthen what the node has begun to count.
    """
    return (notice.kill_at - notice.leave_at).total_seconds()


def gives_way(attempt: Attempt, workload: Workload, end: Exit, at: datetime, now: datetime) -> Preemption | None:
    """The notice, where the end at `at` counts as giving way; None where it was the program's own, or a person's."""
    if workload.desired != Desired.RUNNING or workload.status == Status.STOPPING:
        return None
    notice = preempting.expired_notice(preempting.preemption_of(attempt), now)
    if notice is None or (end.reason is not ExitReason.STOPPED and at < notice.leave_at):
        return None
    return notice


def is_done(end: Exit, workload: Workload) -> bool:
    """Exit code 0 says that what ends is done, also after SIGTERM; who wants to go on ends with any other code."""
    return end.code == 0 and kinds.kind_of(workload).ends


def why(notice: Preemption) -> Why:
    return Why(Reason.PREEMPTED, {"why": notice.why})
