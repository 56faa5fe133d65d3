"""An environment's displayed state, and the only place that writes the status of an operation."""

from datetime import datetime, timedelta
from uuid import UUID

from django.db import IntegrityError, transaction
from django.db.models import F, QuerySet
from django.db.models.functions import Now
from django.utils.translation import gettext_lazy as _

from apps.common.clock import db_now
from apps.common.errors import Conflict
from apps.envs.choices import State, Step, StepStatus
from apps.envs.models import Environment, Operation, Snapshot
from apps.workloads.choices import Reason, Status

LEASE = timedelta(minutes=2)

_OF_WORKLOAD = {
    Status.QUEUED: State.QUEUED,
    Status.PLACED: State.STARTING,
    Status.STARTING: State.STARTING,
    Status.RUNNING: State.RUNNING,
    Status.STOPPING: State.STOPPING,
    Status.FAILED: State.FAILED,
}


def state_of(environment: Environment, now: datetime) -> State:
    """The state derived from the newest workload, the bin and the expiry."""
    if environment.deleted_at is not None:
        return State.BINNED
    workload = environment.workload
    if workload is not None and workload.is_live:
        return _OF_WORKLOAD[Status(workload.status)]
    if environment.expires_at is not None and environment.expires_at <= now:
        return State.EXPIRED
    if workload is None:
        return State.STOPPED
    if workload.reason == Reason.IDLE:
        return State.RELEASED
    return _OF_WORKLOAD.get(Status(workload.status), State.STOPPED)


def begin(
    environment: Environment,
    step: Step,
    *,
    by_id: int | None,
    source: Snapshot | None = None,
    from_image: bool = False,
    start_after: bool = False,
    note: str = "",
) -> Operation:
    """Open an operation. `Conflict` while another one is under way."""
    try:
        with transaction.atomic():
            operation: Operation = Operation.objects.create(
                organisation_id=environment.organisation_id,
                environment=environment,
                step=step,
                by_id=by_id,
                source=source,
                from_image=from_image,
                start_after=start_after,
                note=note[:200],
            )
    except IntegrityError as error:
        raise Conflict(
            _("Something else is being done to this environment."), hint=_("Try again when that has ended.")
        ) from error
    return operation


def claim(operation_id: UUID) -> Operation | None:
    """Claim a due operation for `LEASE`; None if somebody else has it or it has ended."""
    now = db_now()
    rows = Operation.objects.filter(pk=operation_id, status=StepStatus.WAITING, due_at__lte=now)
    if not rows.update(fence=F("fence") + 1, due_at=now + LEASE):
        return None
    claimed: Operation | None = (
        Operation.objects.select_related("environment__workload", "environment__home", "safety", "source")
        .filter(pk=operation_id)
        .first()
    )
    return claimed


def reschedule(operation: Operation, seconds: float, *, error: str = "", tried: bool = False) -> bool:
    """Release the claim and try again later."""
    return bool(
        _claimed(operation).update(
            due_at=db_now() + timedelta(seconds=seconds),
            error=error[:500],
            tries=F("tries") + (1 if tried else 0),
        )
    )


def finish(operation: Operation) -> bool:
    return bool(_claimed(operation).update(status=StepStatus.DONE, ended_at=Now(), error=""))


def fail(operation: Operation, error: str) -> bool:
    return bool(_claimed(operation).update(status=StepStatus.FAILED, ended_at=Now(), error=error[:500]))


def cancel_operations(environment: Environment, error: str) -> int:
    """End any running operation, because the environment is gone."""
    waiting = Operation.objects.filter(environment=environment, status=StepStatus.WAITING)
    return waiting.update(status=StepStatus.FAILED, ended_at=Now(), error=error[:500], fence=F("fence") + 1)


def _claimed(operation: Operation) -> QuerySet[Operation]:
    """The operation, only while the claim is the newest."""
    rows: QuerySet[Operation] = Operation.objects.filter(
        pk=operation.pk, fence=operation.fence, status=StepStatus.WAITING
    )
    return rows
