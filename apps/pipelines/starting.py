"""Starting a pipeline, stopping a run of it, and running it again from where it failed.

A start is a row with a key: what triggers it, a person, a moment, a dataset's version, a webhook, names what it is for,
and whoever comes twice finds what the first has started.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field

from django.db import transaction
from django.db.models import Max
from django.utils.translation import gettext as _

from apps.common import nudges
from apps.common.actor import Actor
from apps.common.errors import Conflict, Invalid
from apps.common.permissions import Permission
from apps.pipelines import selectors, services, states
from apps.pipelines.choices import Cause, EndReason
from apps.pipelines.graph.order import followers, ordered
from apps.pipelines.graph.steps import Outcome, Step
from apps.pipelines.models import Pipeline, PipelineRun, StepRun
from apps.pipelines.placing import values_for
from apps.storage.models import DatasetVersion
from apps.training.choices import KIND
from apps.workloads.permissions import may_manage

ADVANCE = "pipelines.advance"
LONGEST_KEY = 100


@dataclass(frozen=True, slots=True, kw_only=True)
class Start:
    """`key`: within the cause, what it is for. `parameters`: those that are other than the pipeline has them."""

    cause: Cause
    key: str
    parameters: Mapping[str, str] = field(default_factory=dict)
    dataset_version: DatasetVersion | None = None


def start(actor: Actor, pipeline: Pipeline, asked: Start) -> PipelineRun:
    """The newest version, as the actor: their rights, quota and balance count. The same key starts it once."""
    actor.require(Permission.TRAINING_SUBMIT)
    if actor.user_id != pipeline.owner_id:
        may_manage(actor, KIND, pipeline.owner_id)
    if not asked.key or len(asked.key) > LONGEST_KEY:
        raise Invalid.field("key", _("A key of 1 to %(most)s characters.") % {"most": LONGEST_KEY})
    with transaction.atomic():
        row = services.locked(pipeline)
        key = f"{asked.cause}:{asked.key}"
        before = PipelineRun.objects.filter(pipeline=row, key=key).first()
        if before is not None:
            return selectors.runs_of(row).get(pk=before.pk)
        made = _insert(actor, row, key, asked)
        transaction.on_commit(nudge, robust=True)
    return made


def _insert(actor: Actor, pipeline: Pipeline, key: str, asked: Start) -> PipelineRun:
    version = selectors.newest_version(pipeline)
    graph = selectors.graph_of(version)
    last = PipelineRun.objects.filter(pipeline=pipeline).aggregate(last=Max("number"))["last"] or 0
    made: PipelineRun = PipelineRun.objects.create(
        organisation_id=pipeline.organisation_id,
        owner_id=actor.person(),
        pipeline=pipeline,
        version=version,
        number=last + 1,
        key=key,
        cause=asked.cause,
        parameters=values_for(graph, asked.parameters),
        dataset_version=asked.dataset_version,
    )
    StepRun.objects.bulk_create([_attempt(made, each, 1) for each in ordered(graph)])
    services.record_start(actor, made)
    return made


def _attempt(row: PipelineRun, step: Step, number: int) -> StepRun:
    return StepRun(
        organisation_id=row.organisation_id,
        pipeline_run=row,
        step=step.name,
        attempt=number,
        retries_left=step.retries,
    )


def stop(actor: Actor, row: PipelineRun) -> None:
    """End it: its steps are stopped. Raises `Conflict` once it is ending or has ended."""
    may_manage(actor, KIND, row.owner_id)
    if not states.end(actor, row, EndReason.BY_PERSON, {"by": actor.label}):
        raise Conflict(_("It is ending, or has ended, already."))
    nudge()


def run_again(actor: Actor, row: PipelineRun, *, step: str = "") -> None:
    """The steps that did not succeed, with `step` and all that follow it: those that stand keep their output.

    Raises `Conflict` where it has not ended or nothing is left to run, `Invalid` for a step that it has not.
    """
    may_manage(actor, KIND, row.owner_id)
    if row.pipeline.deleted_at is not None:
        raise Conflict(_("The pipeline has been deleted."))
    graph = selectors.graph_of(row.version)
    last = selectors.latest(selectors.steps_of(row))
    again = {name for name, each in last.items() if each.status != Outcome.SUCCEEDED}
    if step:
        if step not in last:
            raise Invalid.field("step", _("There is no step %(said)s.") % {"said": step})
        again |= {step, *followers(graph, step)}
    for name in list(again):
        again |= followers(graph, name)
    if not again:
        raise Conflict(_("All of its steps have succeeded."), hint=_("Name the step from which it is run again."))
    attempts = [_attempt(row, each, last[each.name].attempt + 1) for each in ordered(graph) if each.name in again]
    if not states.run_again(actor, row, attempts):
        raise Conflict(_("It has not ended yet."))
    nudge()


def nudge() -> None:
    nudges.send(ADVANCE)
