"""When a replica that ended is started again: at once where it was moved or lost its machine, else after a pause."""

from datetime import timedelta
from itertools import takewhile

from apps.workloads.choices import Desired, Status
from apps.workloads.drivers.base import ExitReason
from apps.workloads.models import Attempt, Workload

FIRST, LONGEST = timedelta(seconds=10), timedelta(minutes=5)
# Who ran for so long had started well: its end is the first of a new row.
STEADY_S = 600.0
LOOKED_AT = 8  # the pause does not grow any more after so many


def is_replaced(workload: Workload) -> bool:
    """Whether an end that nobody asked for is the beginning of its next try: it is a replica, which is to serve."""
    return (
        workload.replica_set_id is not None
        and workload.desired == Desired.RUNNING
        and workload.status != Status.STOPPING
    )


def pause_after(attempt: Attempt, ran_for_s: float | None = None) -> timedelta:
    """How long a replica stays out of the queue after this attempt, which is about to be written as ended."""
    return pause(failures_in_a_row(attempt, ran_for_s))


def failures_in_a_row(attempt: Attempt, ran_for_s: float | None = None) -> int:
    """With this attempt, which is about to be written as ended; from 1 to one more than `LOOKED_AT`."""
    if (ran_for_s or 0.0) >= STEADY_S:
        return 1
    before = Attempt.objects.filter(workload=attempt.workload_id, number__lt=attempt.number, given_up_at__isnull=True)
    return 1 + sum(1 for _ in takewhile(_failed_soon, before.order_by("-number")[:LOOKED_AT]))


def pause(failures: int) -> timedelta:
    """After so many ends in a row, from 1 on."""
    return min(LONGEST, FIRST * (1 << min(failures - 1, LOOKED_AT)))


def _failed_soon(attempt: Attempt) -> bool:
    """Not those that were stopped to make room or to empty a machine."""
    ended_badly = attempt.exit_reason not in ("", ExitReason.STOPPED.value) or bool(attempt.exit_detail)
    return ended_badly and (attempt.ran_for_s or 0.0) < STEADY_S
