"""How long runs take, learned from those that ended, for the scheduler's estimates."""

from dataclasses import replace
from datetime import datetime
from functools import lru_cache

from django.db.models import Max

import scheduler
from apps.workloads.choices import Status
from apps.workloads.models import Workload
from apps.workloads.reconcile.tasks_of import task_of
from scheduler.estimate import History

# The newest ended runs that are learned from; older ones say little about today's.
LEARN_FROM = 2000


def learned() -> History:
    """Durations of the runs that ended last; read again only when another one has ended."""
    return _read(Workload.objects.aggregate(newest=Max("ended_at"))["newest"])


@lru_cache(maxsize=1)
def _read(newest: datetime | None) -> History:
    history = History()
    ended = Workload.objects.filter(
        status__in=[Status.SUCCEEDED, Status.FAILED], started_at__isnull=False, ended_at__isnull=False
    )
    for workload in reversed(ended.order_by("-ended_at")[:LEARN_FROM]):
        if workload.started_at is not None and workload.ended_at is not None:
            history.ended(task_of(workload), (workload.ended_at - workload.started_at).total_seconds())
    return history


def estimated(task: scheduler.Task, history: History, elapsed_s: float = 0.0) -> scheduler.Task:
    """The task with its p50 and p90 duration in seconds, where enough like it have ended."""
    found = history.estimate(task, elapsed_s)
    return task if found is None else replace(task, estimate_p50_s=found[0], estimate_p90_s=found[1])
