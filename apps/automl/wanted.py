"""What an experiment is to be, and every contradiction in it, before a row is written."""

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any
from uuid import UUID

from django.utils.translation import gettext as _

from apps.automl.choices import ResumePolicy
from apps.automl.problem_words import words_of
from apps.automl.search.algorithms import Algorithm, refusals, setting_problems
from apps.automl.search.early_stopping import EarlyStopping
from apps.automl.search.goals import MetricStrategy, Objective
from apps.automl.search.space import Parameter, Problem, Space, problems
from apps.common.errors import Invalid
from apps.tracking.points import LONGEST_NAME
from apps.training.placing import Placement

MOST_TRIALS, MOST_PARALLEL, MOST_EXTRA = 1000, 64, 10
MOST_OBJECTIVES = 2
LARGEST_SEED = 2**31


@dataclass(frozen=True, slots=True, kw_only=True)
class NewExperiment:
    """`template_id`: the run that each trial is like. `placements`: by parameter. `key` makes it idempotent.

    `budget_fen`: the most that all trials cost together. `seed`: None for one that is drawn. `begins_with`: another
    experiment, what the trials of which found the search knows from the start.
    """

    name: str
    key: str
    template_id: UUID
    objectives: tuple[Objective, ...]
    algorithm: Algorithm
    parameters: tuple[Parameter, ...]
    placements: Mapping[str, Placement]
    parallel: int
    most_trials: int
    most_failed: int
    note: str = ""
    strategy: MetricStrategy | None = None
    extra_metrics: tuple[str, ...] = ()
    settings: Mapping[str, Any] = field(default_factory=dict)
    early_stopping: EarlyStopping = field(default_factory=EarlyStopping)
    budget_fen: int | None = None
    resume_policy: ResumePolicy = ResumePolicy.LONG_RUNNING
    seed: int | None = None
    begins_with: UUID | None = None

    @property
    def space(self) -> Space:
        return Space(parameters=self.parameters)

    @property
    def counted(self) -> MetricStrategy:
        """Unless another is asked for, the best that a run ever said counts, as with Katib."""
        if self.strategy is not None:
            return self.strategy
        minimized = self.objectives[0].direction.value == "minimize"
        return MetricStrategy.MIN if minimized else MetricStrategy.MAX


def check(wanted: NewExperiment) -> None:
    """Raise `Invalid` that names every field at fault at once. Fields of parameters: `parameters.<index>.<field>`."""
    fields = {
        **_objective_fields(wanted),
        **_number_fields(wanted),
        **_placement_fields(wanted),
        **{_field(each): words_of(each) for each in _problems(wanted)},
        **{f"settings.{each.field}": words_of(each) for each in setting_problems(wanted.algorithm, wanted.settings)},
    }
    if fields:
        raise Invalid(next(iter(fields.values())), fields=fields)


def _problems(wanted: NewExperiment) -> list[Problem]:
    """Of the algorithm only where the space makes sense."""
    found = problems(wanted.parameters)
    if found or not wanted.objectives:
        return found
    return refusals(wanted.algorithm, wanted.space, wanted.objectives)


def _field(problem: Problem) -> str:
    return problem.field if problem.index is None else f"parameters.{problem.index}.{problem.field}"


def _objective_fields(wanted: NewExperiment) -> dict[str, str]:
    found = {}
    if not 1 <= len(wanted.objectives) <= MOST_OBJECTIVES:
        found["objectives"] = _("Search by one metric, or by two.")
    names = [each.metric for each in wanted.objectives]
    for place, each in enumerate(wanted.objectives):
        if not each.metric or len(each.metric) > LONGEST_NAME:
            found[f"objectives.{place}.metric"] = _("Name the metric as the run says it, such as val_loss.")
        if each.goal is not None and not math.isfinite(each.goal):
            found[f"objectives.{place}.goal"] = _("The goal is a number.")
    if len(set(names)) < len(names):
        found["objectives.1.metric"] = _("This is the same metric again.")
    if len(wanted.extra_metrics) > MOST_EXTRA or any(len(each) > LONGEST_NAME for each in wanted.extra_metrics):
        found["extra_metrics"] = _("At most %(most)s metrics beside it.") % {"most": MOST_EXTRA}
    return found


def _number_fields(wanted: NewExperiment) -> dict[str, str]:
    found, between = {}, _("From %(least)s to %(most)s.")
    limits = {
        "most_trials": (wanted.most_trials, 1, MOST_TRIALS),
        "parallel": (wanted.parallel, 1, MOST_PARALLEL),
        "most_failed": (wanted.most_failed, 0, MOST_TRIALS),
        "start_step": (wanted.early_stopping.start_step, 0, 10**9),
        "min_trials": (wanted.early_stopping.min_trials, 1, MOST_TRIALS),
    }
    if wanted.seed is not None:
        limits["seed"] = (wanted.seed, 0, LARGEST_SEED - 1)
    for name, (number, least, most) in limits.items():
        if not least <= number <= most:
            found[name] = between % {"least": least, "most": most}
    if "most_trials" not in found and "parallel" not in found and wanted.parallel > wanted.most_trials:
        found["parallel"] = _("No more at a time than there are in all.")
    return found


def _placement_fields(wanted: NewExperiment) -> dict[str, str]:
    found: dict[str, str] = {}
    taken: set[tuple[str, str]] = set()
    for place, parameter in enumerate(wanted.parameters):
        placement = wanted.placements.get(parameter.name)
        field_name = f"parameters.{place}.placed_name"
        if placement is None or not placement.is_valid:
            found[field_name] = _("Name the argument, such as --lr or model.lr=, or the variable, such as LR.")
        elif (placement.placed_as.value, placement.name) in taken:
            found[field_name] = _("Another parameter is placed there already.")
        else:
            taken.add((placement.placed_as.value, placement.name))
    return found
