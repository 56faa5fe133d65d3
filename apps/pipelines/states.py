"""The only place that writes the status of pipelines' runs and of their steps.

A run that is stopped first asks its steps to end, and has ended once none lives. Each write is one conditional UPDATE:
zero rows mean that somebody else was there first.
"""

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from types import MappingProxyType
from typing import Any

from django.db import transaction
from django.db.models import F
from django.db.models.functions import Now

from apps.audit.services import Target, record
from apps.common.actor import Actor
from apps.pipelines.choices import LIVE, OPEN, EndReason, Hurdle, RunStatus, StepStatus, Why
from apps.pipelines.graph.steps import Outcome
from apps.pipelines.models import PipelineRun, StepRun
from apps.pipelines.notices import tell_ended
from apps.training.models import Run

# What a run becomes that was ended before all of its steps had an outcome.
ENDED_AS: Mapping[EndReason, RunStatus] = MappingProxyType(
    {
        EndReason.BY_PERSON: RunStatus.STOPPED,
        EndReason.BUDGET: RunStatus.STOPPED,
        EndReason.OWNER_LOST: RunStatus.FAILED,
    }
)
# And one all of whose steps have one.
RESULTS: Mapping[Outcome, RunStatus] = MappingProxyType(
    {
        Outcome.SUCCEEDED: RunStatus.SUCCEEDED,
        Outcome.FAILED: RunStatus.FAILED,
        Outcome.STOPPED: RunStatus.STOPPED,
    }
)


def target(row: PipelineRun) -> Target:
    return Target("pipeline_run", str(row.pk), f"{row.pipeline.name} #{row.number}")


def end(actor: Actor, row: PipelineRun, reason: EndReason, data: Mapping[str, Any] | None = None) -> bool:
    """Ask it to end; False if it was asked before, or has ended. Its steps are asked by the loop."""
    with transaction.atomic():
        rows = PipelineRun.objects.filter(pk=row.pk, status=RunStatus.RUNNING)
        if not rows.update(status=RunStatus.ENDING, reason=reason, reason_data=dict(data or {}), next_at=Now()):
            return False
        _record(actor, row, "pipeline_run.ending", {"reason": reason.value, **(data or {})})
    return True


def finish(actor: Actor, row: PipelineRun, result: Outcome) -> bool:
    """It has ended, if no step of it lives; whether that was so. `result` counts unless it was asked to end."""
    with transaction.atomic():
        found = PipelineRun.objects.select_for_update(of=("self",)).select_related("pipeline")
        locked = found.filter(pk=row.pk, status__in=sorted(OPEN)).first()
        if locked is None or StepRun.objects.filter(pipeline_run=locked, status__in=sorted(LIVE)).exists():
            return False
        is_asked = locked.status == RunStatus.ENDING
        locked.status = ENDED_AS[EndReason(locked.reason)] if is_asked else RESULTS[result]
        PipelineRun.objects.filter(pk=row.pk).update(
            status=locked.status, ended_at=Now(), hurdle=Hurdle.NONE, lease_until=None
        )
        tell_ended(locked)
        _record(actor, locked, "pipeline_run.ended", {"status": locked.status, "reason": locked.reason})
    return True


def run_again(actor: Actor, row: PipelineRun, attempts: Sequence[StepRun]) -> bool:
    """One that has ended runs again, with these further attempts; False where it has not ended."""
    with transaction.atomic():
        rows = PipelineRun.objects.filter(pk=row.pk, ended_at__isnull=False)
        if not rows.update(
            status=RunStatus.RUNNING,
            reason=EndReason.NONE,
            reason_data={},
            ended_at=None,
            next_at=Now(),
            lease_until=None,
            round=F("round") + 1,
        ):
            return False
        StepRun.objects.bulk_create(attempts)
        _record(actor, row, "pipeline_run.run_again", {"steps": [each.step for each in attempts]})
    return True


def started(step: StepRun, run: Run) -> bool:
    """Its run is submitted; False if it was ended meanwhile, or has one."""
    rows = StepRun.objects.filter(pk=step.pk, status=StepStatus.WAITING, run__isnull=True)
    return bool(rows.update(status=StepStatus.RUNNING, run=run))


def ask_to_end(steps: Iterable[StepRun]) -> int:
    rows = StepRun.objects.filter(pk__in=[each.pk for each in steps], status__in=sorted(LIVE), asked=False)
    return rows.update(asked=True)


def end_step(step: StepRun, status: StepStatus, why: Why = Why.NONE, detail: str = "") -> bool:
    """It has ended; False if that was known."""
    rows = StepRun.objects.filter(pk=step.pk, status__in=sorted(LIVE))
    return bool(rows.update(status=status, why=why, detail=detail[:500], ended_at=Now()))


def retry(step: StepRun, due_at: datetime) -> StepRun:
    """The attempt that follows one that has failed. Call in the transaction that ends it."""
    made: StepRun = StepRun.objects.create(
        organisation_id=step.organisation_id,
        pipeline_run_id=step.pipeline_run_id,
        step=step.step,
        attempt=step.attempt + 1,
        retries_left=step.retries_left - 1,
        due_at=due_at,
    )
    return made


def _record(actor: Actor, row: PipelineRun, action: str, after: Mapping[str, Any]) -> None:
    record(actor, action=action, organisation_id=row.organisation_id, target=target(row), after=after)
