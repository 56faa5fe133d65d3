"""Steps whose runs have ended: what each counts as, and whether another attempt follows."""

from datetime import timedelta

from apps.common.clock import db_now
from apps.pipelines import selectors, states
from apps.pipelines.choices import StepStatus
from apps.pipelines.graph.steps import Graph
from apps.pipelines.models import PipelineRun, StepRun
from apps.pipelines.reconcile.claims import RUNS
from apps.training.driving import is_read
from apps.workloads.choices import Reason, Status
from apps.workloads.models import Workload

# Ended by a limit that its owner gave to it: it did not come to its end, and another attempt would not either.
_LIMITS = frozenset({Reason.LONGEST, Reason.CAP, Reason.GPU_IDLE})


def settle(row: PipelineRun, graph: Graph, steps: list[StepRun]) -> int:
    """How many have ended. A run that gave way waits again, as any other, and its step with it.

    Where a step that follows asks for metrics, it has ended once all of them were read.
    """
    measured, ended = graph.measured(), 0
    for each in steps:
        if each.status != StepStatus.RUNNING or each.run is None or each.run.workload.is_live:
            continue
        workload = each.run.workload
        if each.step not in measured or each.asked or is_read(workload, db_now()):
            ended += _end(row, graph, each, workload)
    return ended


def _end(row: PipelineRun, graph: Graph, each: StepRun, workload: Workload) -> bool:
    status = status_of(workload)
    with RUNS.writing(row) as held:
        if not states.end_step(each, status):
            return False
        retried = workload.status == Status.FAILED and each.retries_left > 0 and not each.asked
        if retried and not held.reason:
            states.retry(each, db_now() + timedelta(seconds=graph.step(each.step).pause_s))
    return True


def status_of(workload: Workload) -> StepStatus:
    if workload.status == Status.SUCCEEDED:
        return StepStatus.SUCCEEDED
    failed = workload.status == Status.FAILED or workload.reason in _LIMITS
    return StepStatus.FAILED if failed else StepStatus.STOPPED


def last_steps(row: PipelineRun) -> dict[str, StepRun]:
    """Of each step its last attempt, as it stands."""
    return selectors.latest(selectors.steps_of(row))
