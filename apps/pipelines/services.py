"""Making pipelines, changing and deleting them. Starting them: `starting`; their steps: `reconcile`."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from django.db import IntegrityError, transaction
from django.db.models.functions import Now
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from apps.audit.services import Target, record
from apps.common.actor import Actor
from apps.common.errors import Conflict, Invalid, NotFound
from apps.common.money import yuan
from apps.common.permissions import Permission
from apps.pipelines import selectors
from apps.pipelines.choices import LONGEST_NAME, OPEN
from apps.pipelines.fault_words import refuse, require_sound
from apps.pipelines.graph.steps import Graph
from apps.pipelines.models import Pipeline, PipelineRun, PipelineVersion, StepTemplate
from apps.pipelines.placing import require_placeable
from apps.schedules import services as schedules
from apps.schedules.models import Schedule
from apps.storage import datasets
from apps.storage.models import Dataset
from apps.training import selectors as training
from apps.training.choices import KIND
from apps.workloads.launching.request import clean_launch_name
from apps.workloads.permissions import may_manage

MOST_BUDGET_FEN = 10**12
MOST_PIPELINES = 500
"""Of one person, deleted ones apart."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PipelineDraft:
    """What a pipeline is to be. `budget_fen`: the most that the steps of one run cost together.

    `dataset_id`: whose new versions start it.
    """

    name: str
    graph: Graph
    note: str = ""
    budget_fen: int | None = None
    dataset_id: UUID | None = None


def create(actor: Actor, draft: PipelineDraft, *, key: str) -> Pipeline:
    """Its first version, all or nothing; the same key makes one. Raises `Invalid` with every field at fault."""
    actor.require(Permission.TRAINING_SUBMIT)
    if not key:
        raise Invalid.field("key", _("A key is missing."))
    made = _made(actor, key)
    if made is not None:
        return made
    name, dataset = _checked(actor, draft)
    try:
        with transaction.atomic():
            _refuse_too_many(actor)
            pipeline: Pipeline = Pipeline.objects.create(
                organisation_id=actor.organisation(),
                owner_id=actor.person(),
                name=name,
                note=draft.note[:200],
                key=key,
                dataset=dataset,
                seen_version=dataset.newest if dataset else 0,
            )
            _add_version(actor, pipeline, 1, draft)
            _record(actor, pipeline, "pipeline.created", after={"steps": len(draft.graph.steps)})
    except IntegrityError:  # the same key, sent twice at once
        made = _made(actor, key)
        if made is None:
            raise
        return made
    return pipeline


def change(actor: Actor, pipeline: Pipeline, draft: PipelineDraft) -> Pipeline:
    """As drafted from now on: another graph or budget is a new version. What runs goes on under its own version."""
    may_manage(actor, KIND, pipeline.owner_id)
    name, dataset = _checked(actor, draft)
    with transaction.atomic():
        row = locked(pipeline)
        current = selectors.newest_version(row)
        before = {"name": row.name, "version": row.newest}
        if current.graph != draft.graph.as_json() or current.budget_fen != draft.budget_fen:
            row.newest += 1
            _add_version(actor, row, row.newest, draft)
        if row.dataset_id != (dataset.pk if dataset else None):
            row.dataset, row.seen_version = dataset, dataset.newest if dataset else 0
        row.name, row.note = name, draft.note[:200]
        row.save(update_fields=["name", "note", "newest", "dataset", "seen_version"])
        _record(actor, row, "pipeline.changed", before=before, after={"name": name, "version": row.newest})
    return row


def delete(actor: Actor, pipeline: Pipeline) -> None:
    """Out of every list, with the schedules that start it; the training runs of its steps stay.

    Raises `Conflict` while a run of it has not ended.
    """
    may_manage(actor, KIND, pipeline.owner_id)
    with transaction.atomic():
        row = locked(pipeline)
        if PipelineRun.objects.filter(pipeline=row, status__in=sorted(OPEN)).exists():
            raise Conflict(_("A run of it has not ended yet."), hint=_("Stop it first."))
        for schedule in Schedule.objects.filter(target_id=row.pk):
            schedules.delete(actor, schedule)
        Pipeline.objects.filter(pk=row.pk).update(deleted_at=Now(), hook_digest="", dataset=None)
        _record(actor, row, "pipeline.deleted")


def locked(pipeline: Pipeline) -> Pipeline:
    """Its row until the transaction ends. Raises `NotFound` once it is deleted."""
    rows = Pipeline.objects.select_for_update(no_key=True, of=("self",)).select_related("dataset")
    row: Pipeline | None = rows.filter(pk=pipeline.pk, deleted_at__isnull=True).first()
    if row is None:
        raise NotFound
    return row


def _checked(actor: Actor, draft: PipelineDraft) -> tuple[str, Dataset | None]:
    """Name and dataset as they are kept. Raises `Invalid`."""
    name = clean_launch_name(draft.name, longest=LONGEST_NAME, missing=gettext_lazy("Give the pipeline a name."))
    require_sound(draft.graph)
    require_placeable(draft.graph)
    refuse(_unknown_templates(actor, draft.graph))
    if draft.budget_fen is not None and not 0 < draft.budget_fen <= MOST_BUDGET_FEN:
        raise Invalid.field("budget", _("At most %(limit)s.") % {"limit": yuan(MOST_BUDGET_FEN)})
    return name, _dataset(actor, draft.dataset_id)


def _unknown_templates(actor: Actor, graph: Graph) -> dict[str, str]:
    ids = {UUID(each.template) for each in graph.steps}
    seen = set(training.runs(actor).filter(pk__in=ids).values_list("pk", flat=True))
    words = _("Choose a run that you can see.")
    places = reversed(list(enumerate(graph.steps)))
    return {f"steps.{index}.template": words for index, each in places if UUID(each.template) not in seen}


def _dataset(actor: Actor, dataset_id: UUID | None) -> Dataset | None:
    try:
        return None if dataset_id is None else datasets.get(actor, dataset_id)
    except NotFound as error:
        raise Invalid.field("dataset", _("Choose a dataset that you can see.")) from error


def _refuse_too_many(actor: Actor) -> None:
    if Pipeline.objects.filter(owner_id=actor.person(), deleted_at__isnull=True).count() >= MOST_PIPELINES:
        words = _("You have %(most)s pipelines, the most that one person may have.") % {"most": MOST_PIPELINES}
        raise Conflict(words, hint=_("Delete those that you do not need."))


def _made(actor: Actor, key: str) -> Pipeline | None:
    found: Pipeline | None = Pipeline.objects.filter(owner_id=actor.person(), key=key).first()
    return found


def _add_version(actor: Actor, pipeline: Pipeline, number: int, draft: PipelineDraft) -> None:
    whose = {"organisation_id": pipeline.organisation_id}
    version = PipelineVersion.objects.create(
        **whose,
        pipeline=pipeline,
        number=number,
        graph=draft.graph.as_json(),
        budget_fen=draft.budget_fen,
        made_by_id=actor.person(),
    )
    StepTemplate.objects.bulk_create(
        StepTemplate(**whose, version=version, step=each.name, run_id=UUID(each.template)) for each in draft.graph.steps
    )


def _record(
    actor: Actor,
    pipeline: Pipeline,
    action: str,
    before: Mapping[str, Any] | None = None,
    after: Mapping[str, Any] | None = None,
) -> None:
    target = Target("pipeline", str(pipeline.pk), pipeline.name)
    record(actor, action=action, organisation_id=pipeline.organisation_id, target=target, before=before, after=after)


def record_start(actor: Actor, row: PipelineRun) -> None:
    said = {"run": str(row.pk), "number": row.number, "version": row.version.number, "cause": row.cause}
    _record(actor, row.pipeline, "pipeline.started", after=said)
