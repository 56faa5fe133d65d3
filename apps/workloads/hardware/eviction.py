"""Whether an attempt has to leave its node: the node's row says so, and the reconcile loop makes it so."""

from datetime import datetime

from apps.clusters.choices import DrainAction, NodeStatus
from apps.clusters.models import Node
from apps.workloads.choices import Desired
from apps.workloads.drivers.base import Exit, ExitReason
from apps.workloads.models import Attempt, Workload
from apps.workloads.programs import programs_of


def is_evicted(attempt: Attempt, now: datetime) -> bool:
    """A node of it is being emptied, the time to leave is over, and what is there is to be queued again.

    Replicas always are: they serve elsewhere.
    """
    moves = attempt.workload.replica_set_id is not None
    return any(_is_emptied(program.node, now, moves) for program in programs_of(attempt))


def _is_emptied(node: Node, now: datetime, moves: bool) -> bool:
    due = node.drain_until is not None and node.drain_until <= now
    return due and node.status == NodeStatus.DRAINING and (moves or node.drain_action == DrainAction.REQUEUE)


def ended_by_eviction(attempt: Attempt, workload: Workload, end: Exit, now: datetime) -> bool:
    """It was stopped because of its node alone: nobody wanted it to end."""
    return end.reason is ExitReason.STOPPED and workload.desired == Desired.RUNNING and is_evicted(attempt, now)
