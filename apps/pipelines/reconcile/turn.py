"""The loop of pipelines: one turn of one run. Safe to repeat, and to be killed between any two statements.

A turn takes a claim, whose fence is asked again in each transaction that writes. Attempts are rows first; the training
run of each is submitted by a key of the attempt's, so a turn that follows a killed one finds the same run.
"""

from apps.common.actor import Actor
from apps.pipelines import selectors, states
from apps.pipelines.choices import LIVE, Hurdle, RunStatus
from apps.pipelines.graph.deciding import result
from apps.pipelines.graph.steps import Graph, Outcome
from apps.pipelines.models import PipelineRun, StepRun
from apps.pipelines.reconcile import deciding, settling, submitting
from apps.pipelines.reconcile.claims import RUNS
from apps.training.driving import stop_run

LIVELY_S, HINDERED_S = 2.0, 10.0


def advance_due(actor: Actor) -> int:
    """Look at every run that is due; how many."""
    return RUNS.advance_due(actor, advance)


def advance(actor: Actor, row: PipelineRun) -> None:
    """One turn. Raises `ClaimLost`."""
    graph, hurdle = selectors.graph_of(row.version), Hurdle.NONE
    settling.settle(row, graph, selectors.steps_of(row))
    row.refresh_from_db(fields=["status", "reason"])
    if row.status == RunStatus.RUNNING:
        ready = deciding.ready(row, graph, settling.last_steps(row))
        hurdle = submitting.start_ready(actor, row, graph, ready)
        row.refresh_from_db(fields=["status", "reason"])
    if row.status == RunStatus.ENDING:
        _stop_all(actor, row, graph)
    if _finish(actor, row, graph):
        return
    RUNS.release(row, again_s=HINDERED_S if hurdle else LIVELY_S, hurdle=hurdle)


def _stop_all(actor: Actor, row: PipelineRun, graph: Graph) -> None:
    live = [each for each in selectors.steps_of(row) if each.status in LIVE]
    states.ask_to_end(live)
    for each in live:
        if each.run is None:
            _give_up(actor, row, each)
        elif each.run.workload.is_live:
            stop_run(actor, each.run)
    settling.settle(row, graph, selectors.steps_of(row))


def _give_up(actor: Actor, row: PipelineRun, each: StepRun) -> None:
    with RUNS.writing(row):
        submitting.end_unstarted(actor, each)


def _finish(actor: Actor, row: PipelineRun, graph: Graph) -> bool:
    last = settling.last_steps(row)
    outcomes = selectors.outcomes(last)
    if len(outcomes) < len(graph.steps):
        return False
    return states.finish(actor, row, Outcome(result(graph, outcomes)))
