"""Training runs, as what a schedule starts."""

from collections.abc import Mapping, Sequence
from uuid import UUID

from django.urls import reverse
from django.utils.translation import gettext_lazy as _

from apps.common.actor import Actor
from apps.common.errors import Conflict
from apps.schedules.targets import RUN, Described, ScheduleTarget
from apps.training import selectors as training
from apps.training import services as runs
from apps.training.models import Run
from apps.workloads.choices import LIVE, Status


def _find(actor: Actor, run_id: UUID) -> Described:
    run = training.get(actor, run_id)
    return Described(f"{run.name} v{run.version}", reverse("training:detail", args=[run.pk]))


def _start(actor: Actor, run_id: UUID, key: str) -> UUID:
    """It is no further try at the line of an array that it repeats."""
    return runs.rerun(actor, training.get(actor, run_id), key=f"schedule-{key}", array_line_id=None).pk


def _living(ids: Sequence[UUID]) -> list[UUID]:
    return list(Run.objects.filter(pk__in=ids, workload__status__in=LIVE).values_list("pk", flat=True))


def _stop(actor: Actor, run_id: UUID) -> None:
    run: Run = Run.objects.select_related("workload").get(pk=run_id)
    if run.workload.status == Status.STOPPING:
        return
    try:
        runs.stop(actor, run)
    except Conflict:  # it has just ended
        return


def _describe(ids: Sequence[UUID]) -> Mapping[UUID, Described]:
    rows = Run.objects.filter(pk__in=ids).select_related("workload")
    return {
        run.pk: Described(
            f"v{run.version}",
            reverse("training:detail", args=[run.pk]),
            run.workload.status,
            run.workload.get_status_display(),
        )
        for run in rows
    }


RUNS = ScheduleTarget(
    name=RUN,
    label=_("Training run"),
    find=_find,
    start=_start,
    living=_living,
    stop=_stop,
    describe_started=_describe,
)
