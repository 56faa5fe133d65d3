"""Carry out operations: a loop finds those that are due, claims each, and does its next step."""

import logging
from uuid import UUID

from django.db import transaction
from django.db.models import QuerySet
from django.utils.translation import gettext_lazy as _

from apps.common.actor import Actor, Channel
from apps.common.clock import db_now
from apps.common.errors import Conflict, DomainError
from apps.common.scoping import acting
from apps.envs import idleness, states
from apps.envs.choices import SnapshotKind, Step, StepStatus
from apps.envs.models import Environment, Operation, Watch
from apps.envs.reconcile import stopping
from apps.envs.reconcile.saving import restore_home, take_snapshot
from apps.envs.services import running
from apps.envs.services.shared import log as write_log
from apps.envs.services.shared import tell_pages
from apps.notifications.services import notify_user
from apps.tenants.actors import organisation_actor
from apps.workloads.choices import LIVE, Reason, Status
from apps.workloads.ended import spent_data

log = logging.getLogger(__name__)

AT_ONCE = 20
MAX_TRIES = 3
RETRY_S = 15.0
POLL_S = 2.0
_KINDS = {
    Step.SNAPSHOT: SnapshotKind.MANUAL,
    Step.STOP: SnapshotKind.AT_STOP,
    Step.RELEASE: SnapshotKind.BEFORE_RELEASE,
    Step.RESTORE: SnapshotKind.BEFORE_CHANGE,
}


def due() -> QuerySet[Operation]:
    """Operations that wait for their next step, the longest waiting first. Call in the platform's scope."""
    rows: QuerySet[Operation] = Operation.objects.filter(status=StepStatus.WAITING, due_at__lte=db_now())
    return rows.order_by("due_at")


def advance_due(actor: Actor) -> int:
    """Advance every due operation a step in this process; returns how many. The platform forks a child for each."""
    return sum(advance(actor, pk) for pk in due().values_list("pk", flat=True)[:AT_ONCE])


def fail_overdue(actor: Actor, operation_id: UUID) -> None:
    """Count a failed try: the process that carried it out was killed at its deadline."""
    operation = Operation.objects.select_related("environment").filter(pk=operation_id).first()
    if operation is not None and operation.status == StepStatus.WAITING:
        _failed(actor, operation, Conflict(_("Saving or restoring the files took too long.")))
        tell_pages(operation.environment)


def advance(actor: Actor, operation_id: UUID) -> bool:
    operation = states.claim(operation_id)
    if operation is None:
        return False
    try:
        _STEPS[Step(operation.step)](actor, operation)
    except (OSError, DomainError) as error:
        _failed(actor, operation, error)
    tell_pages(operation.environment)
    return True


def _failed(actor: Actor, operation: Operation, error: Exception) -> None:
    """Retry a few times, then report the failure. The files are unchanged: a failed release releases nothing."""
    words = str(error.message) if isinstance(error, DomainError) else "The disk could not be read or written."
    log.warning("operation %s of %s: %s", operation.step, operation.environment.code, error)
    if operation.tries + 1 < MAX_TRIES:
        states.reschedule(operation, RETRY_S * (operation.tries + 1), error=words, tried=True)
        return
    environment = operation.environment
    if operation.step == Step.STOP and not operation.by_id:
        if stopping.still_wanted(operation):
            running.stop_workload(actor, environment, stopping.reason_of(operation))
        states.finish(operation)
        return
    if not states.fail(operation, words):
        return
    if operation.step == Step.RELEASE:
        Watch.objects.filter(environment=environment).update(save_failed_at=db_now(), busy_at=db_now())
    notify_user(
        organisation_id=environment.organisation_id,
        user_id=environment.owner_id,
        kind="environment.not_released" if operation.step == Step.RELEASE else "environment.failed",
        data={"environment_id": str(environment.pk), "name": environment.name, "step": operation.step},
    )


def _snapshot(actor: Actor, operation: Operation) -> None:
    kind = SnapshotKind.MANUAL if operation.by_id else SnapshotKind.AUTOMATIC
    take_snapshot(operation, kind)
    states.finish(operation)


def _stop(actor: Actor, operation: Operation) -> None:
    take_snapshot(operation, _KINDS[Step.STOP])
    with transaction.atomic():
        if states.finish(operation) and stopping.still_wanted(operation):
            running.stop_workload(actor, operation.environment, stopping.reason_of(operation))


def _release(actor: Actor, operation: Operation) -> None:
    """Release it, unless somebody came back while the files were being saved."""
    take_snapshot(operation, _KINDS[Step.RELEASE])
    environment = operation.environment
    with transaction.atomic():
        watch = Watch.objects.filter(environment=environment).first()
        still = watch is not None and idleness.is_due(db_now(), watch.busy_at, environment.idle_minutes)
        if not states.finish(operation) or not still:
            return
        running.stop_workload(actor, environment, Reason.IDLE)
        write_log(actor, environment, "released", after={"idle_minutes": environment.idle_minutes})
        notify_user(
            organisation_id=environment.organisation_id,
            user_id=environment.owner_id,
            kind="environment.released",
            data={
                "environment_id": str(environment.pk),
                "name": environment.name,
                "minutes": environment.idle_minutes,
                **(spent_data(actor, environment.workload) if environment.workload else {}),
            },
        )


def _restore(actor: Actor, operation: Operation) -> None:
    if _has_stopped(actor, operation):
        take_snapshot(operation, _KINDS[Step.RESTORE])
        restore_home(operation)
        write_log(actor, operation.environment, "files_restored")
        _start_or_finish(operation)


def _restart(actor: Actor, operation: Operation) -> None:
    if _has_stopped(actor, operation):
        _start_or_finish(operation)


def _has_stopped(actor: Actor, operation: Operation) -> bool:
    """Ask running work to stop and check again soon; True once nothing runs."""
    workload = operation.environment.workload
    if workload is None or workload.status not in LIVE:
        return True
    if workload.status != Status.STOPPING:
        running.stop_workload(actor, operation.environment, Reason.CHANGED)
    states.reschedule(operation, POLL_S)
    return False


def _start_or_finish(operation: Operation) -> None:
    """Start again as its owner, with the owner's rights of today; the operation ends with it, both or neither."""
    with transaction.atomic():
        if not states.finish(operation) or not operation.start_after:
            return
        environment = Environment.objects.select_related("owner").get(pk=operation.environment_id)
        owner = organisation_actor(environment.owner, environment.organisation_id, channel=Channel.TASK)
        with acting(owner):
            running.start(owner, environment)


_STEPS = {
    Step.SNAPSHOT: _snapshot,
    Step.STOP: _stop,
    Step.RELEASE: _release,
    Step.RESTORE: _restore,
    Step.RESTART: _restart,
}
