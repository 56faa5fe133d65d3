"""Runs of trials, asked to end: again does no harm, and neither does one that has just ended."""

from apps.common.actor import Actor
from apps.common.errors import Conflict
from apps.training.models import Run
from apps.workloads import services as workloads
from apps.workloads.choices import Reason


def stop_run(actor: Actor, run: Run, why: Reason = Reason.BY_PERSON) -> bool:
    """Whether it was asked."""
    try:
        workloads.stop(actor, run.workload, why)
    except Conflict:
        return False
    return True
