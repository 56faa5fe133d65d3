"""Environments that a rule stops (no money, a cap, a time that is over): their home is saved, then what runs ends.

The kernel says which and until when; it stops by itself what has not been saved by then. The home outlives its
programs with or without a snapshot.
"""

from django.db import transaction

from apps.common.actor import Actor
from apps.common.errors import Conflict
from apps.envs import states
from apps.envs.choices import KIND, Step, StepStatus
from apps.envs.models import Environment, Operation
from apps.envs.services.shared import log, tell_pages
from apps.workloads.choices import Reason, Status
from apps.workloads.models import Workload

# Notes of the platform's own stops, by which the operation knows why; people's stops have none.
# Those that the kernel asks for may be called off while the files are being saved.
ASKED_BY_KERNEL = frozenset({Reason.ARREARS, Reason.CAP, Reason.PREPAID, Reason.LONGEST, Reason.GPU_IDLE, Reason.TIMED})
BY_RULE = {"expired": Reason.EXPIRED, **{str(why): why for why in ASKED_BY_KERNEL}}


def save_before_stopping(actor: Actor) -> int:
    """Begin saving and stopping for each; how many. While something else is being done to one, the next turn does."""
    rows = Workload.objects.filter(stop_by__isnull=False, status=Status.RUNNING, kind=KIND)
    return sum(_save(actor, workload) for workload in rows)


def _save(actor: Actor, workload: Workload) -> bool:
    environment = Environment.objects.filter(workload_id=workload.pk, deleted_at__isnull=True).first()
    if environment is None or environment.operations.filter(status=StepStatus.WAITING).exists():
        return False
    try:
        with transaction.atomic():
            states.begin(environment, Step.STOP, by_id=None, note=workload.stop_reason)
            log(actor, environment, "stop_after_snapshot", after={"reason": workload.stop_reason})
            tell_pages(environment)
    except Conflict:
        return False
    return True


def reason_of(operation: Operation) -> Reason:
    return Reason.BY_PERSON if operation.by_id else BY_RULE.get(operation.note, Reason.BY_PERSON)


def still_wanted(operation: Operation) -> bool:
    """Whether it is to stop now that its files are saved: a top-up or a higher cap may have come meanwhile."""
    why = reason_of(operation)
    if why not in ASKED_BY_KERNEL:
        return True
    return Workload.objects.filter(environment=operation.environment_id, stop_reason=why).exists()
