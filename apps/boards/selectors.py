"""Read boards, and the runs on which one may be opened."""

import hashlib
from collections.abc import Iterable, Sequence
from uuid import UUID

from django.db.models import QuerySet
from django.utils.translation import gettext_lazy as _

from apps.billing.models import Package
from apps.billing.prices.own import with_paid_rate
from apps.boards.choices import KIND, LEAST_MEMORY_MIB, MOST_RUNS
from apps.boards.models import Board
from apps.boards.program import PORT
from apps.common.actor import Actor
from apps.common.errors import Conflict, DomainError, Invalid, NotFound
from apps.training.models import Run
from apps.training.selectors import runs
from apps.workloads import reach
from apps.workloads.choices import LIVE, Status
from apps.workloads.launching.submission import packages_on_offer
from apps.workloads.permissions import seen_rows
from apps.workloads.placing import is_simulated
from apps.workloads.single_workload.selectors import one


def boards(actor: Actor) -> QuerySet[Board]:
    """The actor's own, or all that they manage; newest first, with `paid_rate` in fen per hour."""
    rows: QuerySet[Board] = Board.objects.select_related(
        "workload__package", "workload__price_version", "owner"
    ).prefetch_related("shown")
    return with_paid_rate(seen_rows(actor, KIND, rows), "workload__").order_by("-created_at", "-pk")


def get(actor: Actor, board_id: UUID) -> Board:
    """One visible board; `NotFound` otherwise."""
    return one(boards(actor), pk=board_id)


def chosen_runs(actor: Actor, run_ids: Iterable[UUID]) -> list[Run]:
    """The runs of these ids, by name. Raises `Invalid` for none or too many, `NotFound` for one that is not visible."""
    wanted = set(run_ids)
    if not wanted:
        raise Invalid.field("runs", _("Choose at least one run."))
    if len(wanted) > MOST_RUNS:
        raise Invalid.field("runs", _("One TensorBoard shows up to %(most)s runs.") % {"most": MOST_RUNS})
    found = list(runs(actor).filter(pk__in=wanted).order_by("name", "version", "pk"))
    if len(found) < len(wanted):
        raise NotFound
    return found


def selection_of(chosen: Sequence[Run]) -> str:
    """The same for the same runs, whatever their order."""
    return hashlib.sha256("".join(sorted(run.pk.hex for run in chosen)).encode()).hexdigest()


def open_on(actor: Actor, chosen: Sequence[Run]) -> Board | None:
    """The actor's own board over exactly these runs that waits or runs; None for one that is ending, too."""
    own = boards(actor).filter(owner_id=actor.user_id, selection=selection_of(chosen))
    return own.filter(workload__status__in=LIVE - {Status.STOPPING}).first()


def package_for(actor: Actor) -> Package:
    """The cheapest on offer that is enough: without a GPU, on machines that exist. Raises `Conflict` without one."""
    enough = [
        package
        for package in packages_on_offer(actor).filter(gpu_count=0, memory_mib__gte=LEAST_MEMORY_MIB)
        if package.price is not None and not is_simulated(package)
    ]
    if not enough:
        raise Conflict(
            _("No package without a GPU is on offer to you."),
            hint=_("TensorBoard takes the smallest one. An administrator can put one on offer."),
        )
    return min(enough, key=lambda each: (each.price.rate_fen_per_hour if each.price else 0, each.memory_mib, each.pk))


def is_ready(actor: Actor, board: Board) -> bool:
    """Whether the actor may open it and TensorBoard answers there now."""
    try:
        reach.endpoint(actor, board.workload, PORT.name)
    except DomainError:
        return False
    return True
