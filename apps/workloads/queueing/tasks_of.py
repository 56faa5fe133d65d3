"""From a workload and its spec to the scheduler's task."""

from collections.abc import Iterable
from dataclasses import replace

import scheduler
from apps.clusters.rights import Entitlements, entitlements
from apps.workloads.choices import Fault
from apps.workloads.models import Workload
from apps.workloads.requested import make_task as make_task


def task_of(workload: Workload, min_runtime_s: float = 0.0) -> scheduler.Task:
    """`min_runtime_s`: what has run for less is not asked to give way. Its rights are told by `entitled_tasks`."""
    return make_task(
        workload.frozen_spec,
        id=str(workload.pk),
        organisation=str(workload.organisation_id),
        department=str(workload.department_id or ""),
        user=str(workload.owner_id),
        priority=workload.priority,
        submitted_at=workload.queued_at.timestamp(),
        # Of a replica that is replaced it may have been its own fault.
        requeued=workload.attempt_number > 0 and workload.fault != Fault.USER,
        min_runtime_s=min_runtime_s,
        expected_s=workload.expected_s,
        longest_s=workload.longest_s,
        spread=str(workload.replica_set_id) if workload.replica_set_id else None,
    )


def entitled_tasks(tasks: Iterable[scheduler.Task]) -> tuple[scheduler.Task, ...]:
    """The tasks with what their organisations may use now; one query. Call in the platform's scope."""
    rights = entitlements()
    return tuple(entitled_task(task, rights) for task in tasks)


def entitled_task(task: scheduler.Task, rights: Entitlements) -> scheduler.Task:
    """The same object while its rights are the same."""
    own = rights.get(task.organisation, ())
    return task if task.entitled == own else replace(task, entitled=own)
