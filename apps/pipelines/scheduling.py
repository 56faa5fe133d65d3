"""Pipelines, as what a schedule starts. One of `settings.SCHEDULE_TARGETS`."""

from collections.abc import Mapping, Sequence
from uuid import UUID

from django.urls import reverse
from django.utils.translation import gettext_lazy as _

from apps.common.actor import Actor
from apps.common.errors import Conflict
from apps.pipelines import selectors, starting
from apps.pipelines.choices import OPEN, Cause
from apps.pipelines.models import PipelineRun
from apps.schedules.targets import Described, ScheduleTarget

PIPELINE = "pipeline"


def _find(actor: Actor, pipeline_id: UUID) -> Described:
    pipeline = selectors.get(actor, pipeline_id)
    return Described(pipeline.name, reverse("pipelines:detail", args=[pipeline.pk]))


def _start(actor: Actor, pipeline_id: UUID, key: str) -> UUID:
    asked = starting.Start(cause=Cause.TIME, key=key)
    return starting.start(actor, selectors.get(actor, pipeline_id), asked).pk


def _living(ids: Sequence[UUID]) -> list[UUID]:
    return list(PipelineRun.objects.filter(pk__in=ids, status__in=sorted(OPEN)).values_list("pk", flat=True))


def _stop(actor: Actor, run_id: UUID) -> None:
    try:
        starting.stop(actor, selectors.get_run(actor, run_id))
    except Conflict:  # it was asked before, or has just ended
        return


def _describe(ids: Sequence[UUID]) -> Mapping[UUID, Described]:
    rows = PipelineRun.objects.filter(pk__in=ids)
    return {
        row.pk: Described(
            f"#{row.number}", reverse("pipelines:run", args=[row.pk]), row.status, row.get_status_display()
        )
        for row in rows
    }


PIPELINES = ScheduleTarget(
    name=PIPELINE,
    label=_("Pipeline"),
    find=_find,
    start=_start,
    living=_living,
    stop=_stop,
    describe_started=_describe,
)
