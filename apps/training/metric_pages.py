"""What pages show of the metrics of runs: values by name, progress, and the curves that charts ask for."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from django.utils.translation import gettext as _

from apps.common.actor import Actor
from apps.common.errors import Invalid, NotFound
from apps.tracking import selectors as tracking
from apps.tracking.collecting.models import Collection
from apps.tracking.collecting.words import problem_of
from apps.tracking.selectors import Axis, Curve, SeriesInfo
from apps.training.models import Run
from apps.training.selectors import runs
from apps.workloads.models import Workload

MOST_RUNS = 50
MOST_NAMES = 40
POINTS = 600
"""Of one curve: a chart is rarely wider in pixels than that."""
MOST_POINTS = 30_000


@dataclass(frozen=True, slots=True)
class RunProgress:
    """`percent` of the whole; `left_s` at the pace so far; both None where the log does not say."""

    percent: float | None
    done: float | None
    total: float | None
    unit: str
    epoch: float | None
    epochs: int | None
    left_s: float | None
    per_s: float | None
    headline_name: str
    headline_value: float | None


def progress_of(workload: Workload) -> RunProgress | None:
    """What its log says so far; None where that is nothing."""
    row: Collection | None = getattr(workload, "collection", None)
    if row is None or (not row.progress and not row.headline_name):
        return None
    said: dict[str, Any] = row.progress or {}
    fraction = said.get("fraction")
    live = workload.is_live
    return RunProgress(
        percent=None if fraction is None else round(100 * fraction, 1),
        done=said.get("done"),
        total=said.get("total"),
        unit=said.get("unit") or "step",
        epoch=said.get("epoch"),
        epochs=said.get("epochs"),
        left_s=said.get("left_s") if live else None,
        per_s=said.get("per_s") if live else None,
        headline_name=row.headline_name,
        headline_value=row.headline_value,
    )


def metrics_tab(actor: Actor, run: Run) -> dict[str, Any]:
    rows: list[SeriesInfo] = tracking.names(actor, run.workload_id)
    collection = Collection.objects.filter(pk=run.workload_id).first()
    return {
        "run_id": str(run.pk),
        "workload_id": str(run.workload_id),
        "metrics": rows,
        "parameters": tracking.parameters(actor, [run.workload_id]).get(run.workload_id, {}),
        "collection": collection,
        "metric_problem": problem_of(collection),
    }


def chosen_runs(actor: Actor, ids: Sequence[UUID], *, least: int = 1) -> list[Run]:
    """In the order in which they were named. Raises `Invalid` for too few or too many, `NotFound` for one unseen."""
    wanted = list(dict.fromkeys(ids))
    if len(wanted) < least:
        raise Invalid.field("runs", _("Choose at least two runs."))
    if len(wanted) > MOST_RUNS:
        raise Invalid.field("runs", _("At most %(most)s runs can be compared.") % {"most": MOST_RUNS})
    found = {run.pk: run for run in runs(actor).filter(pk__in=wanted)}
    if len(found) < len(wanted):
        raise NotFound
    return [found[pk] for pk in wanted]


def curves_of(
    actor: Actor, chosen: Sequence[Run], names: Sequence[str], axis: str, span: tuple[float | None, float | None]
) -> dict[str, Any]:
    """What `static/src/js/curves.js` draws: points are [x, low, high, last]; without names, which names there are."""
    by_workload = {run.workload_id: run for run in chosen}
    shown = [{"id": str(run.pk), "name": run.name, "version": run.version} for run in chosen]
    if not names:
        known = sorted({each.name for pk in by_workload for each in tracking.names(actor, pk)}, key=_in_groups)
        return {"runs": shown, "names": known}
    if axis not in list(Axis):
        raise Invalid.field("axis", _("Steps or time."))
    points = max(50, min(POINTS, MOST_POINTS // (len(chosen) * len(names))))
    found = tracking.chart(
        actor, list(by_workload), list(names)[:MOST_NAMES], axis=axis, start=span[0], end=span[1], points=points
    )
    return {"runs": shown, "curves": [_plain(curve, by_workload[curve.workload_id]) for curve in found]}


def _in_groups(name: str) -> tuple[str, str]:
    group, _slash, rest = name.rpartition("/")
    return group, rest


def _plain(curve: Curve, run: Run) -> dict[str, Any]:
    return {
        "run": str(run.pk),
        "name": curve.name,
        "odd": curve.odd_count,
        "points": [[each.x, each.low, each.high, each.last] for each in curve.buckets],
        "marks": [
            [mark.x, "NaN" if math.isnan(mark.value) else "∞" if mark.value > 0 else "-∞"] for mark in curve.marks
        ],
        "restarts": curve.restarts,
    }
