"""An experiment's trials as charts and tables show them."""

import math
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from decimal import Decimal
from typing import Any
from uuid import UUID

from django.urls import reverse

from apps.automl import selectors
from apps.automl.choices import TrialStatus
from apps.automl.measuring import curves_of, objectives_of
from apps.automl.models import Experiment, Trial
from apps.automl.reconcile.asking import STATES
from apps.automl.search import goals as search
from apps.automl.search.goals import Direction
from apps.automl.search.landscape import Landscape
from apps.automl.search.space import Space, Value
from apps.common import plots
from apps.common.plots import Better, Objective, Parallel, PlotRow, TrialState, axis_of, on_axis
from apps.training.placing import text_of

_BETTER = {Direction.MINIMIZE: Better.LOW, Direction.MAXIMIZE: Better.HIGH}


@dataclass(frozen=True, slots=True)
class TrialRow:
    """`fen`: what it cost so far; None before it has a run."""

    trial: Trial
    values: list[tuple[str, str]]
    fen: Decimal | None
    is_best: bool
    is_on_front: bool


@dataclass(frozen=True, slots=True)
class Line:
    """What a trial said of the first objective, by step."""

    trial: plots.Trial
    points: tuple[tuple[int, float], ...]

    @property
    def last(self) -> str:
        return plots.shown(self.points[-1][1])

    @property
    def last_step(self) -> int:
        return self.points[-1][0]

    def plain(self) -> dict[str, Any]:
        return {**self.trial.plain(), "points": [list(each) for each in self.points]}


@dataclass(frozen=True, slots=True)
class Intermediate:
    """Trials while they run, those of them that said something."""

    name: str
    better: Better
    lines: tuple[Line, ...]

    def plain(self) -> dict[str, Any]:
        return {"name": self.name, "better": self.better.value, "lines": [each.plain() for each in self.lines]}


@dataclass(frozen=True, slots=True)
class Contour:
    """A landscape with the words of its axes; `urls`: of the runs of trials, by number."""

    across: str
    up: str
    objective: search.Objective
    landscape: Landscape
    urls: dict[int, str]

    @property
    def columns(self) -> list[str]:
        return [_rounded(each) for each in self.landscape.xs]

    @property
    def lines(self) -> list[str]:
        return [_rounded(each) for each in self.landscape.ys]

    @property
    def table_rows(self) -> list[tuple[str, list[str]]]:
        """From above, as they are drawn."""
        lines = zip(self.lines, self.landscape.cells, strict=True)
        return [(text, [plots.shown(cell) for cell in line]) for text, line in lines][::-1]

    def plain(self) -> dict[str, Any]:
        return {
            "x": {"label": self.across, "texts": self.columns},
            "y": {"label": self.up, "texts": self.lines},
            "name": self.objective.metric,
            "better": _BETTER[self.objective.direction].value,
            "cells": [list(line) for line in self.landscape.cells],
            "spots": [{**asdict(each), "url": self.urls.get(each.number, "")} for each in self.landscape.spots],
        }


def rows(
    experiment: Experiment, trials: Sequence[Trial], spent: dict[UUID, Decimal], best: Trial | None
) -> list[TrialRow]:
    """Of several objectives none is the best; there is a front then."""
    front = selectors.front_of(objectives_of(experiment), trials)
    names = [each.name for each in Space.from_json(experiment.parameters).parameters]
    return [
        TrialRow(
            each,
            [(name, _shown(each.values[name])) for name in names if name in each.values],
            spent.get(each.pk),
            not front and best is not None and each.pk == best.pk,
            each.pk in front,
        )
        for each in trials
    ]


def objective_chart(experiment: Experiment, trials: Sequence[Trial]) -> Objective:
    first = objectives_of(experiment)[0]
    points = tuple(_point(each) for each in trials)
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
    first, *others = [f"m.{each.metric}" for each in objectives_of(experiment)]
    # Of two objectives one wants to see the front; of one, how it depends on a parameter.
    across = others[0] if others else axes[0].key if axes else ""
    return Parallel(tuple(axes), found, colour=first, across=across, up=first)


def intermediate_chart(experiment: Experiment, trials: Sequence[Trial]) -> Intermediate:
    """Trials that have ended as they were read then, those that run as they stand."""
    first = objectives_of(experiment)[0]
    running = [each.run.workload_id for each in trials if each.run is not None and each.status == TrialStatus.RUNNING]
    live = curves_of(experiment, running) if running else {}
    found = [
        (each, live.get(each.run.workload_id, ()) if each.run and not each.curve else tuple(map(tuple, each.curve)))
        for each in trials
    ]
    finite = [(each, tuple(point for point in curve if math.isfinite(point[1]))) for each, curve in found]
    lines = tuple(Line(_point(each), curve) for each, curve in finite if curve)
    return Intermediate(name=first.metric, better=_BETTER[first.direction], lines=lines)


def contour_chart(
    experiment: Experiment, trials: Sequence[Trial], landscape: Landscape, across: str, up: str
) -> Contour:
    urls = {each.number: address(each) for each in trials}
    return Contour(across, up, objectives_of(experiment)[0], landscape, urls)


def _point(trial: Trial) -> plots.Trial:
    return plots.Trial(
        number=trial.number,
        state=TrialState(STATES[TrialStatus(trial.status)].value),
        value=trial.objectives[0] if trial.objectives else None,
        url=address(trial),
    )


def address(trial: Trial) -> str:
    """Of its run; empty before it has one."""
    return reverse("training:detail", args=[trial.run_id]) if trial.run_id else ""


def _shown(value: Value) -> str:
    """For people: six digits. The program gets all of them."""
    return f"{value:.6g}" if isinstance(value, float) else text_of(value)


def _rounded(value: Value) -> str:
    """The middle of a cell: three digits, since nobody chose it."""
    return f"{value:.3g}" if isinstance(value, float) else text_of(value)


def _plotted(value: Value | None) -> plots.Value:
    if value is None or isinstance(value, str):
        return value
    return text_of(value) if isinstance(value, bool) else float(value)
