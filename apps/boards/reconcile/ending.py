"""Boards that nobody looks at any more, or whose owner may not see their runs any more, are ended."""

from datetime import datetime

from apps.boards import services
from apps.boards.choices import IDLE_MINUTES
from apps.boards.models import Board
from apps.boards.permissions import sees_all
from apps.common.actor import Actor
from apps.common.clock import db_now
from apps.common.errors import Conflict, DomainError
from apps.common.scoping import acting
from apps.tenants.actors import organisation_actor
from apps.workloads import activity
from apps.workloads.activity import Use
from apps.workloads.choices import LIVE, Reason, Status
from apps.workloads.idle_rule import is_due, release_at


def end_unused(actor: Actor) -> int:
    """How many were asked to end. `actor`: the system, which acts already."""
    rows = Board.objects.filter(workload__status__in=LIVE - {Status.STOPPING})
    live = list(rows.select_related("workload", "owner").prefetch_related("shown"))
    uses, now = activity.latest_use([board.workload_id for board in live]), db_now()
    return sum(_end_one(actor, board, uses[board.workload_id], now) for board in live)


def _end_one(actor: Actor, board: Board, use: Use, now: datetime) -> bool:
    why = _why(board, use, now)
    if why is None:
        return False
    try:
        services.stop(actor, board, why)
    except Conflict:  # it has just ended
        return False
    return True


def _why(board: Board, use: Use, now: datetime) -> Reason | None:
    if not _may_look(board):
        return Reason.UNAUTHORISED
    looked = last_look(board, use, now)
    return Reason.IDLE if looked is not None and is_due(now, looked, IDLE_MINUTES) else None


def _may_look(board: Board) -> bool:
    """Whether its owner, with the rights of now, sees all of its runs."""
    try:
        owner = organisation_actor(board.owner, board.organisation_id)
        with acting(owner):
            return board.owner.is_active and sees_all(owner, [shown.run_id for shown in board.shown.all()])
    except DomainError:
        return False


def last_look(board: Board, use: Use, now: datetime) -> datetime | None:
    """When somebody last looked at what runs, or it began to; None while it does not run.

    A start counts as a look: its owner has waited for it.
    """
    if board.workload.status != Status.RUNNING:
        return None
    if any(use.connections.values()):
        return now
    return max(filter(None, (board.workload.status_since, use.last_request_at)))


def ends_at(board: Board, now: datetime) -> datetime | None:
    """When it ends unless somebody looks; None while it does not run."""
    looked = last_look(board, activity.latest_use([board.workload_id])[board.workload_id], now)
    return None if looked is None else release_at(looked, IDLE_MINUTES)
