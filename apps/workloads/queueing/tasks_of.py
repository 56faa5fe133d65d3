"""From a workload and its spec to the scheduler's task."""

import scheduler
from apps.workloads.models import Workload
from apps.workloads.requested import make_task as make_task


def task_of(workload: Workload, min_runtime_s: float = 0.0) -> scheduler.Task:
    """`min_runtime_s`: what has run for less is not asked to give way."""
    return make_task(
        workload.frozen_spec,
        id=str(workload.pk),
        organisation=str(workload.organisation_id),
        department=str(workload.department_id or ""),
        user=str(workload.owner_id),
        priority=workload.priority,
        submitted_at=workload.queued_at.timestamp(),
        requeued=workload.attempt_number > 0,
        min_runtime_s=min_runtime_s,
    )
