"""The status of nested runs, as their programs say it: one that has ended may be resumed, as MLflow allows."""

from datetime import datetime

from django.db.models import Q

from apps.tracking.choices import RunStatus
from apps.tracking.models import TrackedRun

ENDED = frozenset({RunStatus.FINISHED, RunStatus.FAILED, RunStatus.KILLED})


def set_status(run: TrackedRun, status: RunStatus, ended_at: datetime | None) -> bool:
    """Whether it was changed: the run of a workload has the workload's status and none of its own."""
    nested = TrackedRun.objects.filter(Q(parent__isnull=False), pk=run.pk)
    return bool(nested.update(status=status, ended_at=ended_at if status in ENDED else None))
