"""What compared runs were started with and what came out, as the axes of parallel coordinates and scatter."""

from collections.abc import Mapping, Sequence
from decimal import Decimal
from uuid import UUID

from django.urls import reverse
from django.utils.translation import gettext as _

from apps.common.actor import Actor
from apps.common.plots import Axis, AxisKind, Better, Parallel, PlotRow, Value, axis_of, number_or_text, on_axis
from apps.tracking import selectors as tracking
from apps.tracking.collecting.reading.names import is_result
from apps.training.comparing.table import parameters_of, running_seconds, smaller_is_better
from apps.training.models import Run

MOST_OFFERED = 40
MOST_SHOWN = 6
"""Of parameters, and of metrics: more axes than these twelve do not fit on a page."""
FEN, HOUR = 100, 3600


def parallel_of(actor: Actor, chosen: Sequence[Run], costs: Mapping[UUID, Decimal]) -> Parallel | None:
    """None where there are not two axes. `costs`: fen by the run's id, of those that the actor may see."""
    columns = [*_parameters(actor, chosen), *_metrics(chosen), *_spent(chosen, costs)]
    if len(columns) < 2:
        return None
    axes = tuple(axis for axis, _values in columns)
    cells = [on_axis(axis, values) for axis, values in columns]
    rows = [
        PlotRow(str(run.pk), f"{run.name} v{run.version}", values, reverse("training:detail", args=[run.pk]))
        for run, values in zip(chosen, zip(*cells, strict=True), strict=True)
    ]
    up = next((axis.key for axis in axes if axis.better and axis.is_shown), axes[-1].key)
    across = next((axis.key for axis in axes if axis.kind is not AxisKind.CATEGORY and axis.key != up), axes[0].key)
    return Parallel(axes, tuple(rows), colour=up, across=across, up=up)


def _parameters(actor: Actor, chosen: Sequence[Run]) -> list[tuple[Axis, list[Value]]]:
    """Those that are not alike."""
    known = parameters_of(actor, chosen)
    names = dict.fromkeys(name for each in known for name in each)
    differing = [name for name in names if len({each.get(name) for each in known}) > 1][:MOST_OFFERED]
    found = []
    for place, name in enumerate(differing):
        values = [number_or_text(each[name]) if name in each else None for each in known]
        found.append((axis_of(f"param:{name}", name, values, is_shown=place < MOST_SHOWN), values))
    return found


def _metrics(chosen: Sequence[Run]) -> list[tuple[Axis, list[Value]]]:
    """Their last values; results such as a loss before what else was logged."""
    last = tracking.latest([run.workload_id for run in chosen])
    names = sorted({name for each in last.values() for name in each}, key=lambda name: (not is_result(name), name))
    found = []
    for place, name in enumerate(names[:MOST_OFFERED]):
        values: list[Value] = [last.get(run.workload_id, {}).get(name) for run in chosen]
        better = (Better.LOW if smaller_is_better(name) else Better.HIGH) if is_result(name) else None
        found.append((axis_of(f"metric:{name}", name, values, better=better, is_shown=place < MOST_SHOWN), values))
    return found


def _spent(chosen: Sequence[Run], costs: Mapping[UUID, Decimal]) -> list[tuple[Axis, list[Value]]]:
    hours: list[Value] = [running_seconds(run.workload) / HOUR or None for run in chosen]
    spent: list[Value] = [float(costs[run.pk]) / FEN if run.pk in costs else None for run in chosen]
    shown = [("hours", _("Ran for, hours"), hours), ("cost", _("Cost, ¥"), spent)]
    return [
        (axis_of(key, label, values, better=Better.LOW, is_shown=False), values)
        for key, label, values in shown
        if any(values)
    ]
