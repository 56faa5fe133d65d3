"""Steps that may start: each is submitted as its owner, with the rights, prices and quota of now."""

from collections.abc import Sequence
from dataclasses import replace
from decimal import ROUND_FLOOR, Decimal
from uuid import UUID

from django.db import transaction
from django.utils import translation

from apps.billing.caps.selectors import cap_limit
from apps.billing.consumption.spending import spent_in_all
from apps.common.actor import Actor
from apps.common.errors import Denied, DomainError
from apps.common.scoping import acting
from apps.notifications.composing import language_of
from apps.pipelines import selectors, states
from apps.pipelines.choices import EndReason, Hurdle, RunStatus, StepStatus, Why
from apps.pipelines.graph.steps import Graph, Step
from apps.pipelines.models import PipelineRun, StepRun
from apps.pipelines.owners import owner_of
from apps.pipelines.placing import placed
from apps.pipelines.reconcile.claims import RUNS
from apps.storage.choices import RootKind
from apps.storage.choosing import Chosen
from apps.storage.models import DatasetVersion
from apps.training import selectors as training
from apps.training import services as runs
from apps.training.driving import hurdle_of, least_cap, stop_run
from apps.training.inputs import RunInput
from apps.training.models import Run


def start_ready(actor: Actor, row: PipelineRun, graph: Graph, ready: Sequence[StepRun]) -> Hurdle:
    """Start them in their order until one cannot be now; what stood in its way. It may end the pipeline's run."""
    for place, each in enumerate(ready):
        RUNS.require(row)
        try:
            run = _submit(row, graph, each, open_steps=len(ready) - place)
        except BudgetSpent:
            return _without_money(actor, row)
        except DomainError as error:
            hurdle = _refused(actor, row, each, error)
            if hurdle or not _is_running(row):
                return hurdle
            continue
        if not states.started(each, run):
            _forget(actor, each, run)
    return Hurdle.NONE


class BudgetSpent(Exception):
    """What is left does not pay for the smallest cap of the next step."""


def _is_running(row: PipelineRun) -> bool:
    return PipelineRun.objects.filter(pk=row.pk, status=RunStatus.RUNNING).exists()


def _submit(row: PipelineRun, graph: Graph, each: StepRun, *, open_steps: int) -> Run:
    """Its run, or the one that its key has started before."""
    owner = owner_of(row)
    with acting(owner), translation.override(language_of(row.owner)):
        step = graph.step(each.step)
        template = training.get(owner, UUID(step.template))
        cap = _cap(row, template, open_steps)
        return runs.submit(owner, request_of(row, step, each, template, cap))


def request_of(row: PipelineRun, step: Step, each: StepRun, template: Run, cap_fen: int | None) -> runs.Request:
    """The template again, with the rows of the step in their places, as a run of its own."""
    plain = runs.request_of(template, key=key_of(each))
    rows = placed(step, plain.arguments, plain.environment, row.parameters)
    return replace(
        plain,
        name=_name(row, each),
        note="",
        code_id=None,
        parent_id=None,
        fork_of=template.pk,
        arguments=rows.arguments,
        environment=rows.environment,
        mounts=_with_version(plain.mounts, row.dataset_version),
        cap_fen=cap_fen,
        step_of=row.pk,
        array_line_id=None,
        inputs=(*plain.inputs, *_inputs(row, step)),
    )


def key_of(each: StepRun) -> str:
    return f"step-{each.pk}"


def _name(row: PipelineRun, each: StepRun) -> str:
    """`nightly 12 train`, within what a name may be long."""
    behind = f" {row.number} {each.step}"
    return f"{row.pipeline.name[: runs.LONGEST_NAME - len(behind)].rstrip()}{behind}"


def _inputs(row: PipelineRun, step: Step) -> tuple[RunInput, ...]:
    """Of the steps whose output it reads, those that have any: a step that was left out has none."""
    last = selectors.latest(selectors.steps_of(row))
    found = [(name, last[name].run_id) for name in step.inputs]
    return tuple(RunInput(name, run_id) for name, run_id in found if run_id is not None)


def _with_version(mounts: tuple[Chosen, ...], version: DatasetVersion | None) -> tuple[Chosen, ...]:
    """The version that started the pipeline, in the place of others of its dataset."""
    if version is None:
        return mounts
    others = set(DatasetVersion.objects.filter(dataset_id=version.dataset_id).values_list("pk", flat=True))
    return tuple(
        replace(each, id=version.pk) if each.kind is RootKind.VERSION and each.id in others else each for each in mounts
    )


def _cap(row: PipelineRun, template: Run, open_steps: int) -> int | None:
    """The most that the next step may cost: its template's own cap, and no more than its share of what is left.

    What steps that live may still cost by their caps is not left; so all of them together never cost more.
    """
    own, budget = cap_limit(template.workload_id), row.version.budget_fen
    if budget is None:
        return own
    steps = [each for each in selectors.steps_of(row) if each.run is not None]
    share = int((left(budget, steps) / open_steps).to_integral_value(rounding=ROUND_FLOOR))
    cap = share if own is None else min(own, share)
    if cap < least_cap(template):
        raise BudgetSpent
    return cap


def left(budget: int, steps: Sequence[StepRun]) -> Decimal:
    """Of the budget, in fen: less what ended steps cost and what those that live may."""
    started = {each.run.workload_id: each for each in steps if each.run is not None}
    spent = spent_in_all(started)
    committed = Decimal(0)
    for workload_id, each in started.items():
        cap = cap_limit(workload_id) if each.status == StepStatus.RUNNING else None
        committed += max(spent.get(workload_id, Decimal(0)), Decimal(cap or 0))
    return Decimal(budget) - committed


def _without_money(actor: Actor, row: PipelineRun) -> Hurdle:
    """Where nothing runs that could give back what it does not use, the run is at its end."""
    if not StepRun.objects.filter(pipeline_run=row, status=StepStatus.RUNNING).exists():
        states.end(actor, row, EndReason.BUDGET)
    return Hurdle.BUDGET


def _refused(actor: Actor, row: PipelineRun, each: StepRun, error: DomainError) -> Hurdle:
    """What passes is waited for. What the owner has to mend fails the step, and what they lost ends the whole."""
    if hurdle := hurdle_of(error):
        return Hurdle(hurdle)
    with translation.override(language_of(row.owner)):
        said = str(error.sentences)[:500]
    if isinstance(error, Denied):
        states.end(actor, row, EndReason.OWNER_LOST, {"said": said})
        return Hurdle.NONE
    with RUNS.writing(row):
        states.end_step(each, StepStatus.FAILED, Why.REFUSED, said)
    return Hurdle.NONE


def end_unstarted(actor: Actor, each: StepRun) -> bool:
    """Give up a step that has no run; whether it has ended.

    A turn may have submitted one and died before it wrote so down: it becomes the step's, and is stopped as any other.
    """
    run = Run.objects.filter(step_of=each.pipeline_run_id, workload__submit_key=key_of(each)).first()
    if run is None:
        return states.end_step(each, StepStatus.STOPPED, Why.PIPELINE)
    with transaction.atomic():
        states.started(each, run)
    stop_run(actor, run)
    return False


def _forget(actor: Actor, each: StepRun, run: Run) -> None:
    """It was given up while it was submitted: the run stays as its run, and ends."""
    StepRun.objects.filter(pk=each.pk, run__isnull=True).update(run=run)
    stop_run(actor, run)
