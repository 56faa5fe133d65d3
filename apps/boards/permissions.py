"""Who may look at a board: its owner, for as long as they see every run that it shows."""

from collections.abc import Collection
from uuid import UUID

from apps.boards.models import BoardRun
from apps.common.actor import Actor
from apps.common.errors import NotFound
from apps.training.selectors import runs
from apps.workloads.models import Workload


def sees_all(actor: Actor, run_ids: Collection[UUID]) -> bool:
    """Whether the actor may see each of these runs. Raises `Denied` for who may see none at all."""
    return bool(run_ids) and runs(actor).filter(pk__in=run_ids).count() == len(run_ids)


def require_runs(actor: Actor, workload: Workload) -> None:
    """The kernel asks at each entry, beyond the right to use such work: see `KindRules.entry_right`."""
    if not sees_all(actor, list(BoardRun.objects.filter(board__workload=workload).values_list("run_id", flat=True))):
        raise NotFound
