"""Opening a board, and ending it."""

from collections.abc import Iterable
from dataclasses import dataclass
from uuid import UUID

from django.db import IntegrityError, transaction

from apps.audit.services import Target, record
from apps.billing.models import Package
from apps.boards import selectors
from apps.boards.choices import KIND, LONGEST_S
from apps.boards.models import Board, BoardRun
from apps.boards.program import labels, spec_of
from apps.common.actor import Actor
from apps.common.permissions import Permission
from apps.training.models import Run
from apps.workloads import services as workloads
from apps.workloads.choices import Reason
from apps.workloads.launching.request import Launch
from apps.workloads.launching.submission import choose_package, submission
from apps.workloads.models import Workload
from apps.workloads.run_times import RunTimes
from apps.workloads.time_limits import carried

NO_IMAGE = UUID(int=0)


@dataclass(frozen=True, slots=True)
class Opened:
    """`is_new`: it was not open already."""

    board: Board
    is_new: bool


def open_board(actor: Actor, run_ids: Iterable[UUID], *, package_id: int | None = None) -> Opened:
    """The actor's board over exactly these runs: the one that is open, else a new one, queued.

    `package_id` None: the cheapest that is enough. Raises `Invalid`, `NotFound` for a run that the actor does not see,
    `QuotaExceeded`, `InsufficientFunds`, `Conflict`; nothing is left behind.
    """
    actor.require(Permission.TRAINING_SUBMIT)
    chosen = selectors.chosen_runs(actor, run_ids)
    # Counted before the look: whoever opens it in between takes this number, and the key that comes of it.
    number = 1 + Board.objects.filter(owner_id=actor.person(), selection=selectors.selection_of(chosen)).count()
    found = selectors.open_on(actor, chosen)
    if found is not None:
        return Opened(found, is_new=False)
    package = selectors.package_for(actor) if package_id is None else choose_package(actor, package_id)
    try:
        with transaction.atomic():
            return Opened(_submit(actor, chosen, package, number), is_new=True)
    except IntegrityError:  # perhaps opened in another tab at this moment
        found = selectors.open_on(actor, chosen)
        if found is None:
            raise
        return Opened(found, is_new=False)


def _submit(actor: Actor, chosen: list[Run], package: Package, number: int) -> Board:
    selection, called = selectors.selection_of(chosen), labels(chosen)
    launch = Launch(
        name=name_of(called),
        image_id=NO_IMAGE,
        package_id=package.pk,
        key=f"board-{selection[:40]}-{number}",
        longest_s=longest_s(actor),
    )
    asked = submission(actor, KIND, spec_of(package, chosen, called), package, launch)
    whose = {"organisation_id": actor.organisation()}
    board: Board = Board.objects.create(
        **whose,
        owner_id=actor.person(),
        workload=workloads.submit_new(actor, asked),
        selection=selection,
        number=number,
    )
    BoardRun.objects.bulk_create(
        BoardRun(**whose, board=board, run=run, label=label) for run, label in zip(chosen, called, strict=True)
    )
    record(
        actor,
        action="tensorboard.opened",
        target=Target("tensorboard", str(board.pk), board.workload.name),
        after={"runs": [str(run.pk) for run in chosen]},
    )
    return board


def longest_s(actor: Actor) -> int | None:
    """After how many seconds it ends in any case: within what the organisation allows."""
    return carried(actor.organisation(), KIND, RunTimes(longest_s=LONGEST_S)).longest_s


def name_of(called: list[str]) -> str:
    """What its workload is called on bills and in the queue: a name, the same in every language."""
    more = f" + {len(called) - 1}" if len(called) > 1 else ""
    return f"TensorBoard: {called[0]}{more}"


def stop(actor: Actor, board: Board, why: Reason = Reason.BY_PERSON) -> Workload:
    """Raises `Conflict` once it has ended."""
    return workloads.stop(actor, board.workload, why)
