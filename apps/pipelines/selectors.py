"""Reading pipelines and their runs, as far as the actor may see the training runs of such an owner."""

from collections.abc import Iterable, Mapping
from decimal import Decimal
from uuid import UUID

from django.db.models import Count, OuterRef, QuerySet, Subquery

from apps.billing.consumption.spending import spent_in_all
from apps.common.actor import Actor
from apps.common.errors import NotFound
from apps.pipelines.graph.steps import Graph, Outcome
from apps.pipelines.models import Pipeline, PipelineRun, PipelineVersion, StepRun
from apps.training.choices import KIND
from apps.workloads.permissions import seen_rows


def pipelines(actor: Actor) -> QuerySet[Pipeline]:
    """The actor's own, or all that they manage; newest first, with what lists show of their last run."""
    last = PipelineRun.objects.filter(pipeline=OuterRef("pk")).order_by("-number")
    rows: QuerySet[Pipeline] = (
        Pipeline.objects.filter(deleted_at__isnull=True)
        .select_related("owner", "dataset")
        .annotate(
            run_count=Count("runs"),
            last_status=Subquery(last.values("status")[:1]),
            last_run_id=Subquery(last.values("pk")[:1]),
            last_number=Subquery(last.values("number")[:1]),
            last_at=Subquery(last.values("created_at")[:1]),
        )
    )
    return seen_rows(actor, KIND, rows).order_by("-created_at", "-pk")


def get(actor: Actor, pipeline_id: UUID) -> Pipeline:
    """One visible pipeline; `NotFound` otherwise."""
    found = pipelines(actor).filter(pk=pipeline_id).first()
    if found is None:
        raise NotFound
    return found


def newest_version(pipeline: Pipeline) -> PipelineVersion:
    found: PipelineVersion = PipelineVersion.objects.get(pipeline=pipeline, number=pipeline.newest)
    return found


def graph_of(version: PipelineVersion) -> Graph:
    return Graph.from_json(version.graph)


def runs(actor: Actor) -> QuerySet[PipelineRun]:
    """Runs of pipelines that the actor sees, newest first; those of deleted ones too."""
    rows: QuerySet[PipelineRun] = PipelineRun.objects.select_related(
        "owner", "pipeline", "version", "dataset_version__dataset"
    )
    return seen_rows(actor, KIND, rows).order_by("-created_at", "-pk")


def runs_of(pipeline: Pipeline) -> QuerySet[PipelineRun]:
    """Newest first."""
    rows: QuerySet[PipelineRun] = PipelineRun.objects.filter(pipeline=pipeline)
    return rows.select_related("owner", "pipeline", "version", "dataset_version__dataset").order_by("-number")


def get_run(actor: Actor, run_id: UUID) -> PipelineRun:
    """One visible run; `NotFound` otherwise."""
    found = runs(actor).filter(pk=run_id).first()
    if found is None:
        raise NotFound
    return found


def steps_of(row: PipelineRun) -> list[StepRun]:
    """All attempts in the order in which they were made, with their runs."""
    rows = StepRun.objects.filter(pipeline_run=row)
    rows = rows.select_related("run__workload__collection", "run__workload__package", "run__output")
    return list(rows.order_by("attempt", "created_at", "pk"))


def latest(steps: Iterable[StepRun]) -> dict[str, StepRun]:
    """Of each step its last attempt, by name."""
    found: dict[str, StepRun] = {}
    for each in steps:
        if each.step not in found or found[each.step].attempt < each.attempt:
            found[each.step] = each
    return found


def outcomes(last: Mapping[str, StepRun]) -> dict[str, Outcome]:
    """Of the steps that have ended."""
    return {name: Outcome(each.status) for name, each in last.items() if each.ended_at is not None}


def spent(steps: Iterable[StepRun]) -> dict[UUID, Decimal]:
    """Exact fen of each attempt that was started, so far, by its id."""
    workloads = {each.pk: each.run.workload_id for each in steps if each.run is not None}
    fen = spent_in_all(workloads.values())
    return {step_id: fen.get(workload_id, Decimal(0)) for step_id, workload_id in workloads.items()}
