"""Experiments whose trials the tests let end as they like."""

from dataclasses import dataclass, field
from typing import Any
from uuid import uuid4

from apps.automl import services
from apps.automl.choices import TrialStatus
from apps.automl.models import Experiment, Trial
from apps.automl.reconcile import turn
from apps.automl.search.algorithms import Algorithm
from apps.automl.search.goals import Direction, Objective
from apps.automl.search.space import Parameter, ParameterKind
from apps.automl.wanted import NewExperiment
from apps.common.actor import Actor
from apps.common.clock import db_now
from apps.common.scoping import acting
from apps.tracking.collecting.models import Collection
from apps.tracking.points import Point
from apps.tracking.services import record
from apps.training.models import Run
from apps.training.placing import Placement, default_placement
from apps.workloads.choices import Reason, Status
from apps.workloads.models import Workload
from tests.builders import World, actor_of, platform
from tests.training.kit import submit

LR = Parameter(name="lr", kind=ParameterKind.DISCRETE, choices=(0.1, 0.2, 0.3, 0.4))
LAYERS = Parameter(name="layers", kind=ParameterKind.INT, low=1, high=3)
LOSS = Objective(metric="loss", direction=Direction.MINIMIZE)


def wanted_for(run: Run, **changes: Any) -> NewExperiment:
    """What would be accepted, but for `changes`: a grid of twelve points."""
    parameters: tuple[Parameter, ...] = changes.pop("parameters", (LR, LAYERS))
    placements: dict[str, Placement] = {each.name: default_placement(each.name) for each in parameters}
    values: dict[str, Any] = {
        "name": "digits tuning",
        "key": uuid4().hex,
        "template_id": run.pk,
        "objectives": (LOSS,),
        "algorithm": Algorithm.GRID,
        "parameters": parameters,
        "placements": placements,
        "parallel": 2,
        "most_trials": 4,
        "most_failed": 1,
    }
    return NewExperiment(**{**values, **changes})


@dataclass
class Bench:
    """A run, experiments on it, and a loop that is turned by hand."""

    world: World
    template: Run = field(init=False)

    def __post_init__(self) -> None:
        self.template = submit(self.world, arguments=(("--lr", "0.5"), ("--epochs", "3")))

    def create(self, actor: Actor | None = None, **changes: Any) -> Experiment:
        who = actor or self.world.actor
        with acting(who):
            return services.create(who, wanted_for(self.template, **changes))

    def turn(self, experiment: Experiment) -> Experiment:
        """One turn of the loop, which is due at once; the experiment after it."""
        with acting(platform()) as actor:
            Experiment.objects.filter(pk=experiment.pk).update(next_at=db_now())
            turn.advance_due(actor)
        return self.reload(experiment)

    def reload(self, experiment: Experiment) -> Experiment:
        with acting(platform()):
            found: Experiment = Experiment.objects.get(pk=experiment.pk)
        return found

    def trials(self, experiment: Experiment) -> list[Trial]:
        with acting(platform()):
            return list(Trial.objects.filter(experiment=experiment).select_related("run__workload"))

    def running(self, experiment: Experiment) -> list[Trial]:
        return [each for each in self.trials(experiment) if each.status == TrialStatus.RUNNING]

    def say(self, trial: Trial, *values: float, metric: str = "loss") -> None:
        """Its run prints these values, one a step."""
        assert trial.run is not None
        with acting(platform()):
            points = [Point(metric, value, step, float(step)) for step, value in enumerate(values, 1)]
            record(workload_id=trial.run.workload_id, points=points)

    def end(self, trial: Trial, status: Status = Status.SUCCEEDED, reason: Reason = Reason.FINISHED) -> None:
        """Its run has ended, and all that it said was read."""
        assert trial.run is not None
        with acting(platform()):
            rows = Workload.objects.filter(pk=trial.run.workload_id)
            rows.update(status=status, reason=reason, started_at=db_now(), ended_at=db_now())
            Collection.objects.update_or_create(
                workload_id=trial.run.workload_id,
                defaults={"organisation_id": trial.organisation_id, "done_at": db_now()},
            )

    def finish(self, trial: Trial, loss: float) -> None:
        self.say(trial, loss)
        self.end(trial)

    def runs_of(self, experiment: Experiment) -> list[Run]:
        with acting(platform()):
            return list(Run.objects.filter(trial_of=experiment.pk).select_related("workload"))


def experiment_values(world: World, run: Run, secret: str) -> dict[str, Any]:
    """An experiment of the world's member, with a trial that nobody has started; by the names of paths."""
    actor = actor_of(world.alice, world.organisation)
    with acting(actor):
        experiment = services.create(actor, wanted_for(run, name=f"{secret} experiment", note=f"{secret} note"))
        rows = {"organisation": world.organisation, "experiment": experiment}
        trial = Trial.objects.create(number=1, values={"lr": 0.1, "layers": 1}, **rows)
    return {"experiment_id": experiment.pk, "number": trial.number}
