"""Reading experiments and trials, as far as the actor may see the runs of such an owner."""

from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from uuid import UUID

from django.db.models import Count, Q, QuerySet

from apps.automl.choices import COUNTED_AS_FAILED, LIVE, TrialStatus
from apps.automl.measuring import objectives_of
from apps.automl.models import Experiment, Trial
from apps.automl.search.goals import Direction, Objective
from apps.billing.consumption.spending import spent_in_all
from apps.common.actor import Actor
from apps.common.errors import NotFound
from apps.training.choices import KIND
from apps.workloads.permissions import seen_rows


@dataclass(frozen=True, slots=True)
class Counts:
    """Trials by what became of them. `failed`: with those whose metric is missing."""

    created: int
    waiting: int
    running: int
    succeeded: int
    pruned: int
    failed: int
    stopped: int

    @property
    def live(self) -> int:
        return self.waiting + self.running


def experiments(actor: Actor) -> QuerySet[Experiment]:
    """The actor's own, or all that they manage; newest first, with the numbers of trials that lists show."""
    rows: QuerySet[Experiment] = Experiment.objects.filter(deleted_at__isnull=True).select_related(
        "owner", "template__workload__package", "template__image"
    )
    counted = rows.annotate(
        trial_count=Count("trials"),
        live_count=Count("trials", filter=Q(trials__status__in=sorted(LIVE))),
        failed_count=Count("trials", filter=Q(trials__status__in=sorted(COUNTED_AS_FAILED))),
    )
    return seen_rows(actor, KIND, counted).order_by("-created_at", "-pk")


def get(actor: Actor, experiment_id: UUID) -> Experiment:
    """One visible experiment; `NotFound` otherwise."""
    found = experiments(actor).filter(pk=experiment_id).first()
    if found is None:
        raise NotFound
    return found


def trials(experiment: Experiment) -> QuerySet[Trial]:
    """By number, with their runs."""
    rows: QuerySet[Trial] = Trial.objects.filter(experiment=experiment).select_related(
        "experiment", "run__workload__collection", "run__workload__package", "parent"
    )
    return rows.order_by("number")


def trial(actor: Actor, experiment_id: UUID, number: int) -> Trial:
    """One trial of a visible experiment; `NotFound` otherwise."""
    found = trials(get(actor, experiment_id)).filter(number=number).first()
    if found is None:
        raise NotFound
    return found


def counts(experiment: Experiment) -> Counts:
    rows = Trial.objects.filter(experiment=experiment).order_by().values_list("status").annotate(n=Count("pk"))
    by_status = dict(rows)
    of = {status: by_status.get(status, 0) for status in TrialStatus}
    return Counts(
        created=sum(of.values()),
        waiting=of[TrialStatus.WAITING],
        running=of[TrialStatus.RUNNING],
        succeeded=of[TrialStatus.SUCCEEDED],
        pruned=of[TrialStatus.PRUNED],
        failed=sum(of[each] for each in COUNTED_AS_FAILED),
        stopped=of[TrialStatus.STOPPED],
    )


def best_of(objective: Objective, rows: Sequence[Trial]) -> Trial | None:
    """The best by one objective of those that were measured to their end; the earlier of two that are equal."""
    best: Trial | None = None
    for row in rows:
        if row.status != TrialStatus.SUCCEEDED or row.objectives is None:
            continue
        if best is None or objective.better(row.objectives[0], best.objectives[0]):  # type: ignore[index]
            best = row
    return best


def front_of(objectives: Sequence[Objective], rows: Sequence[Trial]) -> set[UUID]:
    """The trials on the Pareto front: measured to their end; none is better by one objective and as good by the rest.

    Empty for one objective, of which there is a best.
    """
    if len(objectives) < 2:
        return set()
    signs = [1 if each.direction is Direction.MINIMIZE else -1 for each in objectives]
    losses = {
        row.pk: tuple(sign * value for sign, value in zip(signs, row.objectives, strict=True))
        for row in rows
        if row.status == TrialStatus.SUCCEEDED and row.objectives is not None
    }
    found: list[tuple[float, ...]] = []
    # In this order no later one can be better than an earlier one by all of them.
    for loss in sorted(set(losses.values())):
        if not any(all(a <= b for a, b in zip(each, loss, strict=True)) for each in found):
            found.append(loss)
    on_front = set(found)
    return {pk for pk, loss in losses.items() if loss in on_front}


def best(experiment: Experiment) -> Trial | None:
    """See `best_of`; of several objectives by the first."""
    rows = list(trials(experiment).filter(status=TrialStatus.SUCCEEDED))
    return best_of(objectives_of(experiment)[0], rows)


def spent(rows: Sequence[Trial]) -> dict[UUID, Decimal]:
    """Exact fen of each trial that was started, so far, by the id of the trial."""
    workloads = {row.pk: row.run.workload_id for row in rows if row.run is not None}
    fen = spent_in_all(workloads.values())
    return {trial_id: fen.get(workload_id, Decimal(0)) for trial_id, workload_id in workloads.items()}
