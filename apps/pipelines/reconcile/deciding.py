"""Which waiting steps may start, and which are left out: by the pure rules of `graph.deciding`."""

from collections.abc import Mapping

from apps.common.clock import db_now
from apps.pipelines import selectors, states
from apps.pipelines.choices import StepStatus, Why
from apps.pipelines.graph.deciding import Decision, Verdict, decide
from apps.pipelines.graph.order import ordered
from apps.pipelines.graph.steps import Graph, Outcome
from apps.pipelines.graph.text import write_needs
from apps.pipelines.models import PipelineRun, StepRun
from apps.pipelines.reconcile.claims import RUNS
from apps.tracking.models import Series

_ENDS = {Verdict.SKIP: (StepStatus.SKIPPED, Why.CONDITION), Verdict.UNMEASURED: (StepStatus.FAILED, Why.UNMEASURED)}


def ready(row: PipelineRun, graph: Graph, last: Mapping[str, StepRun]) -> list[StepRun]:
    """Those that may start now, in their order; whoever is left out is written down, with all that follow from it."""
    outcomes, now, found = selectors.outcomes(last), db_now(), []

    def say(step: str, metric: str) -> float | None:
        return _said(last[step], metric)

    for step in ordered(graph):
        each = last[step.name]
        if each.status != StepStatus.WAITING:
            continue
        decision = decide(step, outcomes, say)
        if decision.verdict in _ENDS:
            outcomes[step.name] = _leave_out(row, each, decision)
        elif decision.verdict is Verdict.START and each.due_at <= now:
            found.append(each)
    return found


def _leave_out(row: PipelineRun, each: StepRun, decision: Decision) -> Outcome:
    status, why = _ENDS[decision.verdict]
    with RUNS.writing(row):
        states.end_step(each, status, why, write_needs([decision.need]) if decision.need else "")
    return Outcome(status)


def _said(each: StepRun, metric: str) -> float | None:
    """The last value that its run said."""
    if each.run is None:
        return None
    series = Series.objects.filter(run_id=each.run.workload_id, name=metric)
    found: float | None = series.values_list("last_value", flat=True).first()
    return found
