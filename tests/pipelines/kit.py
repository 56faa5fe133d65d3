"""Pipelines whose steps the tests let end as they like."""

from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any
from uuid import uuid4

from apps.common.actor import Actor
from apps.common.clock import db_now
from apps.common.scoping import acting
from apps.pipelines import selectors, services, starting
from apps.pipelines.choices import Cause, StepStatus
from apps.pipelines.graph.steps import Graph, Step
from apps.pipelines.graph.text import read_needs
from apps.pipelines.models import Pipeline, PipelineRun, StepRun
from apps.pipelines.reconcile import turn
from apps.tracking.collecting.models import Collection
from apps.tracking.points import Point
from apps.tracking.services import record
from apps.training.models import Run
from apps.workloads.choices import Reason, Status
from apps.workloads.models import Workload
from tests.builders import World, actor_of, platform
from tests.training.kit import submit


@dataclass
class Bench:
    """A run that steps are like, pipelines of such steps, and a loop that is turned by hand."""

    world: World
    template: Run = field(init=False)

    def __post_init__(self) -> None:
        self.template = submit(self.world, arguments=(("--lr", "0.5"), ("--epochs", "3")))
        self.end_run(self.template)

    def step(self, name: str, needs: str = "", **changes: Any) -> Step:
        return Step(name=name, template=str(self.template.pk), needs=read_needs(needs), **changes)

    def graph(self, *steps: Step, **parameters: str) -> Graph:
        return Graph(steps=steps, parameters=parameters)

    def create(self, *steps: Step, parameters: dict[str, str] | None = None, **changes: Any) -> Pipeline:
        draft = services.PipelineDraft(
            name=changes.pop("name", "nightly"), graph=self.graph(*steps, **(parameters or {})), **changes
        )
        with acting(actor := self.world.actor):
            return services.create(actor, draft, key=uuid4().hex)

    def start(self, pipeline: Pipeline, actor: Actor | None = None, **changes: Any) -> PipelineRun:
        asked = starting.Start(**{"cause": Cause.HAND, "key": uuid4().hex, **changes})
        with acting(actor := actor or self.world.actor):
            return starting.start(actor, pipeline, asked)

    def run_of(self, *steps: Step, parameters: dict[str, str] | None = None, **changes: Any) -> PipelineRun:
        return self.start(self.create(*steps, parameters=parameters, **changes))

    def turn(self, row: PipelineRun) -> PipelineRun:
        """One turn of the loop, which is due at once; the run after it."""
        with acting(platform()) as actor:
            PipelineRun.objects.filter(pk=row.pk).update(next_at=db_now())
            turn.advance_due(actor)
        return self.reload(row)

    def reload(self, row: PipelineRun) -> PipelineRun:
        with acting(platform()):
            found: PipelineRun = PipelineRun.objects.select_related("pipeline", "version").get(pk=row.pk)
        return found

    def attempts(self, row: PipelineRun) -> list[StepRun]:
        with acting(platform()):
            return selectors.steps_of(row)

    def last(self, row: PipelineRun) -> dict[str, StepRun]:
        return selectors.latest(self.attempts(row))

    def statuses(self, row: PipelineRun) -> dict[str, str]:
        return {name: each.status for name, each in self.last(row).items()}

    def running(self, row: PipelineRun) -> list[StepRun]:
        return [each for each in self.attempts(row) if each.status == StepStatus.RUNNING]

    def living(self, row: PipelineRun) -> list[StepRun]:
        """Those whose run has not ended: a step may not know yet that it has."""
        return [each for each in self.running(row) if each.run is not None and each.run.workload.is_live]

    def say(self, step: StepRun, metric: str, value: float) -> None:
        assert step.run is not None
        with acting(platform()):
            record(workload_id=step.run.workload_id, points=[Point(metric, value, 1, 1.0)])

    def end(self, step: StepRun, status: Status = Status.SUCCEEDED, reason: Reason = Reason.FINISHED) -> None:
        assert step.run is not None
        self.end_run(step.run, status, reason)

    def end_run(self, run: Run, status: Status = Status.SUCCEEDED, reason: Reason = Reason.FINISHED) -> None:
        """It has ended, and all that it said was read."""
        with acting(platform()):
            rows = Workload.objects.filter(pk=run.workload_id)
            rows.update(status=status, reason=reason, started_at=db_now(), ended_at=db_now())
            Collection.objects.update_or_create(
                workload_id=run.workload_id,
                defaults={"organisation_id": run.organisation_id, "done_at": db_now()},
            )

    def go(self, row: PipelineRun, failing: Iterable[str] = ()) -> PipelineRun:
        """Until it ends: each step succeeds as soon as it runs, but for those that fail."""
        for _ in range(60):
            row = self.turn(row)
            if not row.is_open:
                return row
            for each in self.living(row):
                failed = each.step in failing
                self.end(each, *((Status.FAILED, Reason.EXIT_CODE) if failed else ()))
        raise AssertionError("it does not end")

    def runs_of(self, row: PipelineRun) -> list[Run]:
        with acting(platform()):
            return list(Run.objects.filter(step_of=row.pk).select_related("workload"))


def pipeline_values(world: World, run: Run, secret: str) -> dict[str, Any]:
    """A pipeline of the world's member with a run whose step nobody has started; by the names of paths."""
    actor = actor_of(world.alice, world.organisation)
    step = Step(name="train", template=str(run.pk))
    draft = services.PipelineDraft(
        name=f"{secret} pipeline", note=f"{secret} note", graph=Graph(steps=(step,), parameters={"secret": secret})
    )
    with acting(actor):
        pipeline = services.create(actor, draft, key=uuid4().hex)
        row = starting.start(actor, pipeline, starting.Start(cause=Cause.HAND, key=uuid4().hex))
    return {"pipeline_id": pipeline.pk, "pipeline_run_id": row.pk}


def expire(row: PipelineRun) -> None:
    """The lease of whoever died runs out."""
    with acting(platform()):
        PipelineRun.objects.filter(pk=row.pk).update(lease_until=db_now() - timedelta(seconds=1))
