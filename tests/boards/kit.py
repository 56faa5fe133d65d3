"""Boards for tests."""

from typing import Any

from django.utils import timezone

from apps.boards import services
from apps.boards.models import Board
from apps.common.actor import Actor
from apps.common.scoping import acting
from apps.training.models import Run
from apps.workloads.choices import Status
from apps.workloads.models import Workload
from tests.builders import World, platform


def open_board(world: World, *runs: Run, actor: Actor | None = None, **changes: Any) -> Board:
    """The one that is open on these runs, else a new one that is queued."""
    actor = actor or world.actor
    with acting(actor):
        return services.open_board(actor, [run.pk for run in runs], **changes).board


def again(board: Board) -> Board:
    with acting(platform()):
        found: Board = Board.objects.select_related("workload", "owner").get(pk=board.pk)
    return found


def put(board: Board, status: Status, **columns: Any) -> Board:
    """As the loops would leave its workload."""
    with acting(platform()):
        now = timezone.now()
        ended = {"ended_at": now} if status in (Status.STOPPED, Status.FAILED) else {}
        Workload.objects.filter(pk=board.workload_id).update(
            **{"status": status, "status_since": now, "started_at": now, **ended, **columns}
        )
    return again(board)
