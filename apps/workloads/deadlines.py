"""When a start has used up its longest run time.

The time counts over all attempts, without what was lost by no fault of the owner: that work has to be done again. It is
counted from running on, not from the queue. The database adds it up as it writes the row, so a limit that is changed
meanwhile is not overwritten by one that was read before.
"""

from datetime import datetime, timedelta

from django.db.models import DateTimeField, ExpressionWrapper, F, Sum, Value
from django.db.models.expressions import Combinable
from django.db.models.functions import Coalesce

from apps.workloads.models import Attempt, Workload


def used_before(workload: Workload) -> timedelta:
    """What its ended attempts count."""
    if workload.attempt_number <= 1:
        return timedelta(0)
    ended = Attempt.objects.filter(workload=workload, ended_at__isnull=False, started_at__isnull=False)
    sums = ended.aggregate(ran=Sum(F("ended_at") - F("started_at")), lost=Coalesce(Sum("lost_s"), 0.0))
    ran: timedelta = sums["ran"] or timedelta(0)
    return max(timedelta(0), ran - timedelta(seconds=sums["lost"]))


def deadline_expression(workload: Workload, started_at: datetime) -> Combinable:
    """For an UPDATE of the row: NULL where it has no longest run time."""
    counts_from = started_at - used_before(workload)
    return ExpressionWrapper(
        Value(counts_from, DateTimeField()) + F("longest_s") * Value(timedelta(seconds=1)), DateTimeField()
    )


def deadline_of(workload: Workload, longest_s: int) -> datetime | None:
    """When a running workload ends with this limit; None while it does not run."""
    if workload.started_at is None:
        return None
    return workload.started_at - used_before(workload) + timedelta(seconds=longest_s)
