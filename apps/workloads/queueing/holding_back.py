"""Work that its own app keeps out of the queue until something else has ended: submitted, and seen by no pass.

Nobody waits for ever: after `LONGEST` it queues by itself, whatever became of who held it back.
"""

from datetime import timedelta

from django.db.models.functions import Now

from apps.workloads import nudge
from apps.workloads.choices import HELD_BACK, Status
from apps.workloads.models import Workload

LONGEST = timedelta(days=1)


def hold_back(workload: Workload) -> None:
    """Call in the transaction that has submitted it."""
    held: dict[str, object] = {"cause": HELD_BACK, "params": {}, "funnel": []}
    rows = Workload.objects.filter(pk=workload.pk, status=Status.QUEUED)
    rows.update(queued_at=Now() + LONGEST, explanation=held, explained_at=Now())


def let_queue(workload: Workload) -> None:
    """From now on it waits as if it were submitted now; nothing happens to what queues already, or has ended."""
    rows = Workload.objects.filter(pk=workload.pk, status=Status.QUEUED, queued_at__gt=Now())
    if rows.update(queued_at=Now(), explanation={}, explained_at=None):
        nudge.schedule()
