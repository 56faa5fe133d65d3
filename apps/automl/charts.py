"""An experiment's trials as charts and tables show them."""

from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from uuid import UUID

from django.urls import reverse

from apps.automl.choices import TrialStatus
from apps.automl.measuring import objectives_of
from apps.automl.models import Experiment, Trial
from apps.automl.placing import text_of
from apps.automl.reconcile.asking import STATES
from apps.automl.search.goals import Direction
from apps.automl.search.space import Space, Value
from apps.common import plots
from apps.common.plots import Better, Objective, Parallel, PlotRow, TrialState, axis_of, on_axis

_BETTER = {Direction.MINIMIZE: Better.LOW, Direction.MAXIMIZE: Better.HIGH}


@dataclass(frozen=True, slots=True)
class TrialRow:
    """`fen`: what it cost so far; None before it has a run."""

    trial: Trial
    values: list[tuple[str, str]]
    fen: Decimal | None
    is_best: bool


def rows(
    experiment: Experiment, trials: Sequence[Trial], spent: dict[UUID, Decimal], best: Trial | None
) -> list[TrialRow]:
    names = [each.name for each in Space.from_json(experiment.parameters).parameters]
    return [
        TrialRow(
            each,
            [(name, _shown(each.values[name])) for name in names if name in each.values],
            spent.get(each.pk),
            best is not None and each.pk == best.pk,
        )
        for each in trials
    ]


def objective_chart(experiment: Experiment, trials: Sequence[Trial]) -> Objective:
    first = objectives_of(experiment)[0]
    points = tuple(
        plots.Trial(
            number=each.number,
            state=TrialState(STATES[TrialStatus(each.status)].value),
            value=each.objectives[0] if each.objectives else None,
            url=address(each),
        )
        for each in trials
    )
    return Objective(name=first.metric, better=_BETTER[first.direction], trials=points, goal=first.goal)


def parallel_chart(experiment: Experiment, trials: Sequence[Trial]) -> Parallel:
    """Trials that were measured, over the parameters and every metric that is searched by."""
    measured = [each for each in trials if each.objectives]
    axes, columns = [], []
    for parameter in Space.from_json(experiment.parameters).parameters:
        values = [_plotted(each.values.get(parameter.name)) for each in measured]
        axis = axis_of(f"p.{parameter.name}", parameter.name, values)
        axes.append(axis)
        columns.append(on_axis(axis, values))
    for place, objective in enumerate(objectives_of(experiment)):
        values = [each.objectives[place] for each in measured if each.objectives]
        axis = axis_of(f"m.{objective.metric}", objective.metric, values, better=_BETTER[objective.direction])
        axes.append(axis)
        columns.append(on_axis(axis, values))
    found = tuple(
        PlotRow(str(each.number), f"#{each.number}", tuple(column[place] for column in columns), address(each))
        for place, each in enumerate(measured)
    )
    first = f"m.{objectives_of(experiment)[0].metric}"
    return Parallel(tuple(axes), found, colour=first, across=axes[0].key if axes else "", up=first)


def address(trial: Trial) -> str:
    """Of its run; empty before it has one."""
    return reverse("training:detail", args=[trial.run_id]) if trial.run_id else ""


def _shown(value: Value) -> str:
    """For people: six digits. The program gets all of them."""
    return f"{value:.6g}" if isinstance(value, float) else text_of(value)


def _plotted(value: Value | None) -> plots.Value:
    if value is None or isinstance(value, str):
        return value
    return text_of(value) if isinstance(value, bool) else float(value)
