"""One pipeline with its runs, and one of its runs with its steps."""

from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal
from typing import Any
from uuid import UUID

from django.http import HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.views.decorators.http import require_GET

from apps.common.access import in_organisation, requires
from apps.common.badges import badge
from apps.common.pages import paged
from apps.common.permissions import Permission
from apps.common.requests import ActorRequest
from apps.pipelines import selectors
from apps.pipelines.choices import RunStatus, StepStatus
from apps.pipelines.graph.drawing import Box, Line, draw
from apps.pipelines.graph.order import ordered
from apps.pipelines.graph.steps import Graph, Step, When
from apps.pipelines.models import PipelineRun, StepRun
from apps.pipelines.scheduling import PIPELINE
from apps.pipelines.tables import PipelineRunTable
from apps.pipelines.words import need_words, why_ended, why_step, why_waiting
from apps.schedules import selectors as schedules
from apps.training import selectors as training
from apps.training.models import Run

VIEW = in_organisation(Permission.TRAINING_VIEW)


@dataclass(frozen=True, slots=True)
class DrawnStep:
    """`tone`: of the state, None before anything was started. `below`: its state in a word."""

    box: Box
    tone: str
    below: str
    url: str


@dataclass(frozen=True, slots=True)
class DrawnLine:
    line: Line
    is_conditional: bool


@dataclass(frozen=True, slots=True)
class StepLine:
    """A step in the table. `attempts`: those before the last, the newest first; `fen`: what all of them cost."""

    step: Step
    needs: str
    template: Run | None = None
    last: StepRun | None = None
    why: str = ""
    attempts: tuple[StepRun, ...] = ()
    fen: Decimal = Decimal(0)


@requires(VIEW)
@require_GET
def detail(request: ActorRequest, pipeline_id: UUID) -> HttpResponse:
    pipeline = selectors.get(request.actor, pipeline_id)
    version = selectors.newest_version(pipeline)
    graph = selectors.graph_of(version)
    table = PipelineRunTable(selectors.runs_of(pipeline), request=request)
    paged(request, table)
    templates = {each.step: each.run for each in version.templates.select_related("run")}
    context = {
        "pipeline": pipeline,
        "version": version,
        "graph": graph,
        **_drawn(graph, {}),
        "lines": [StepLine(each, _needs(each), templates.get(each.name)) for each in ordered(graph)],
        "table": table,
        "schedules": schedules.of_target(request.actor, PIPELINE, pipeline.pk),
        "may_act": request.actor.may(Permission.TRAINING_SUBMIT),
        "last_event_id": training.last_event_id(request.actor),
    }
    return render(request, "pipelines/detail.html", context)


@requires(VIEW)
@require_GET
def run(request: ActorRequest, pipeline_run_id: UUID) -> HttpResponse:
    row = selectors.get_run(request.actor, pipeline_run_id)
    return render(request, "pipelines/run.html", _run_page(request, row))


def _run_page(request: ActorRequest, row: PipelineRun) -> dict[str, Any]:
    graph = selectors.graph_of(row.version)
    steps = selectors.steps_of(row)
    last, spent = selectors.latest(steps), selectors.spent(steps)
    return {
        "row": row,
        "graph": graph,
        **_drawn(graph, last),
        "lines": [_line(each, steps, last, spent) for each in ordered(graph)],
        "spent_fen": sum(spent.values(), Decimal(0)),
        "done": sum(1 for each in last.values() if each.ended_at is not None),
        "why_ended": why_ended(row),
        "why_waiting": why_waiting(row),
        "said": row.reason_data.get("said", ""),
        "is_running": row.status == RunStatus.RUNNING,
        "may_run_again": row.ended_at is not None and row.pipeline.deleted_at is None,
        "may_act": request.actor.may(Permission.TRAINING_SUBMIT),
        "last_event_id": training.last_event_id(request.actor),
    }


def _needs(step: Step) -> str:
    return "; ".join(need_words(each) for each in step.needs)


def _line(step: Step, steps: list[StepRun], last: Mapping[str, StepRun], spent: Mapping[UUID, Decimal]) -> StepLine:
    own = [each for each in steps if each.step == step.name]
    newest = last[step.name]
    before = tuple(sorted((each for each in own if each.pk != newest.pk), key=lambda each: -each.attempt))
    fen = sum((spent.get(each.pk, Decimal(0)) for each in own), Decimal(0))
    return StepLine(step, _needs(step), None, newest, why_step(newest), before, fen)


def _drawn(graph: Graph, last: Mapping[str, StepRun]) -> dict[str, Any]:
    """Boxes with their states, and lines: dashed where more than success is asked for, or less."""
    drawing = draw(graph)
    return {
        "drawing": drawing,
        "drawn_steps": [_drawn_step(box, last.get(box.name)) for box in drawing.boxes],
        "drawn_lines": [DrawnLine(each, each.need.when is not When.SUCCEEDED) for each in drawing.lines],
    }


def _drawn_step(box: Box, step: StepRun | None) -> DrawnStep:
    if step is None:
        return DrawnStep(box, "", "", "")
    of_run = step.status == StepStatus.RUNNING and step.run is not None
    status, label = (
        (step.run.workload.status, step.run.workload.get_status_display())  # type: ignore[union-attr]
        if of_run
        else (step.status, step.get_status_display())
    )
    url = reverse("training:detail", args=[step.run_id]) if step.run_id else ""
    return DrawnStep(box, badge(status).tone.value, label, url)
