"""Reading what runs said of themselves, as far as the actor may see the runs."""

import math
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from uuid import UUID

import numpy as np
from django.db.models import QuerySet, Sum

from apps.common.actor import Actor
from apps.common.errors import NotFound
from apps.tracking import stored
from apps.tracking.downsampling import Bucket, Mark, sample
from apps.tracking.models import Parameter, PointChunk, Series, TrackedRun, TrackingTag
from apps.tracking.outlines import GROUP, WIDER
from apps.tracking.points import MICROSECONDS, Floats, Points, joined
from apps.tracking.stored import Piece, Range
from apps.workloads import selectors as workloads

MOST_BUCKETS = 5_000


class Axis(StrEnum):
    STEP = "step"
    TIME = "time"


@dataclass(frozen=True, slots=True)
class SeriesInfo:
    """What is known of a series without its points. Times in Unix seconds; least and greatest of finite values."""

    name: str
    count: int
    odd_count: int
    last: float
    last_step: int
    last_at: float
    first_step: int
    first_at: float
    least: float | None
    least_step: int | None
    greatest: float | None
    greatest_step: int | None


@dataclass(frozen=True, slots=True)
class Curve:
    """A series of a run for a chart: see `downsampling`. `odd_count`: values in the range that are NaN or infinite."""

    workload_id: UUID
    name: str
    odd_count: int
    buckets: list[Bucket]
    marks: list[Mark]
    restarts: list[float]


def names(actor: Actor, workload_id: UUID) -> list[SeriesInfo]:
    """The metrics of a visible run, by name."""
    visible(actor, [workload_id])
    return infos(workload_id)


def infos(run_id: UUID) -> list[SeriesInfo]:
    """Those of a run, or of one nested in it, that the caller may see."""
    return [_info(row) for row in Series.objects.filter(run_id=run_id).order_by("name")]


def chart(
    actor: Actor,
    workload_ids: Sequence[UUID],
    names: Sequence[str],
    *,
    axis: Axis | str,
    start: float | None = None,
    end: float | None = None,
    points: int = 1_000,
) -> list[Curve]:
    """A curve for each of these metrics that each of the visible runs has. `start` and `end`: steps or Unix seconds."""
    visible(actor, workload_ids)
    return curves(workload_ids, names, axis=Axis(axis), start=start, end=end, points=points)


def curves(
    run_ids: Sequence[UUID],
    names: Sequence[str],
    *,
    axis: Axis,
    start: float | None = None,
    end: float | None = None,
    points: int = 1_000,
) -> list[Curve]:
    """`chart` of runs, or of those nested in them, that the caller may see."""
    most = min(max(points, 1), MOST_BUCKETS)
    series: list[Series] = list(
        Series.objects.filter(run_id__in=run_ids, name__in=names).order_by("name").only("run_id", "name")
    )
    ids = [each.pk for each in series]
    within = _range(axis, start, end)
    pieces: dict[int, list[Piece]] = defaultdict(list)
    for piece in stored.read(run_ids, ids, within, coarsely=_dense(ids, within, most)):
        pieces[piece.series_id].append(piece)
    inside = {pk: _inside(each, axis, start, end) for pk, each in pieces.items()}
    limits = _limits(inside.values(), start, end)
    return [_curve(each, *inside[each.pk], limits, most) for each in series if each.pk in inside]


def latest(workload_ids: Iterable[UUID], names: Sequence[str] | None = None) -> dict[UUID, dict[str, float]]:
    """The last value of each metric, or of these, by run; one statement for a page of rows that the caller may see."""
    rows = Series.objects.filter(run_id__in=list(workload_ids), last_value__isnull=False)
    if names is not None:
        rows = rows.filter(name__in=names)
    found: dict[UUID, dict[str, float]] = defaultdict(dict)
    for row in rows.only("run_id", "name", "last_value"):
        if row.last_value is not None:
            found[row.run_id][row.name] = row.last_value
    return dict(found)


def parameters(actor: Actor, workload_ids: Sequence[UUID]) -> dict[UUID, dict[str, str]]:
    """The parameters of visible runs, by run."""
    visible(actor, workload_ids)
    return texts(Parameter.objects.filter(run_id__in=workload_ids))


def tags(actor: Actor, workload_ids: Sequence[UUID]) -> dict[UUID, dict[str, str]]:
    """What programs noted about visible runs, by run."""
    visible(actor, workload_ids)
    return texts(TrackingTag.objects.filter(run_id__in=workload_ids))


def nested(actor: Actor, workload_id: UUID) -> list[TrackedRun]:
    """Runs that a client of MLflow nested in a visible run, oldest first."""
    visible(actor, [workload_id])
    rows = TrackedRun.objects.filter(workload_id=workload_id, parent__isnull=False, deleted_at__isnull=True)
    return list(rows.order_by("created_at", "pk"))


def visible(actor: Actor, workload_ids: Sequence[UUID]) -> None:
    """Raise `NotFound` unless the actor may see every one of these."""
    if not workloads.sees_all(actor, set(workload_ids)):
        raise NotFound


def texts(rows: "QuerySet[Parameter] | QuerySet[TrackingTag]") -> dict[UUID, dict[str, str]]:
    found: dict[UUID, dict[str, str]] = defaultdict(dict)
    for run_id, name, value in rows.order_by("name").values_list("run_id", "name", "value"):
        found[run_id][name] = value
    return dict(found)


def _info(row: Series) -> SeriesInfo:
    return SeriesInfo(
        name=row.name,
        count=row.count,
        odd_count=row.odd_count,
        last=math.nan if row.last_value is None else row.last_value,
        last_step=row.last_step or 0,
        last_at=(row.last_moment or 0) / MICROSECONDS,
        first_step=row.first_step or 0,
        first_at=(row.first_moment or 0) / MICROSECONDS,
        least=row.min_value,
        least_step=row.min_step,
        greatest=row.max_value,
        greatest_step=row.max_step,
    )


def _range(axis: Axis, start: float | None, end: float | None) -> Range:
    if axis is Axis.STEP:
        return Range("step", None if start is None else int(np.ceil(start)), None if end is None else int(end))
    return Range("moment", _moment(start), _moment(end))


def _moment(seconds: float | None) -> int | None:
    return None if seconds is None else round(seconds * MICROSECONDS)


def _dense(series: list[int], within: Range, most: int) -> list[int]:
    """Series with so many points in the range that outlines of them show the same."""
    low, high = f"min_{within.column}__lte", f"max_{within.column}__gte"
    rows = PointChunk.objects.filter(series_id__in=series)
    rows = rows if within.end is None else rows.filter(**{low: within.end})
    rows = rows if within.start is None else rows.filter(**{high: within.start})
    counts = rows.order_by().values("series_id").annotate(points=Sum("count"))
    return [row["series_id"] for row in counts if row["points"] > most * GROUP * WIDER]


def _inside(pieces: Sequence[Piece], axis: Axis, start: float | None, end: float | None) -> tuple[Points, Floats, int]:
    """The points in the range with their places on the axis, and how many odd values there are."""
    points = joined([each.points for each in pieces])
    xs = points.steps.astype(np.float64) if axis is Axis.STEP else points.moments / MICROSECONDS
    odd = ~np.isfinite(points.values)
    outlined = np.repeat([each.is_outline for each in pieces], [len(each.points) for each in pieces])
    chosen = np.ones(len(points), np.bool_)
    if start is not None:
        chosen &= xs >= start
    if end is not None:
        chosen &= xs <= end
    counted = int(np.count_nonzero(odd & chosen & ~outlined)) + sum(
        each.odd_count for each in pieces if each.is_outline
    )
    return points[chosen], xs[chosen], counted


def _limits(
    inside: Iterable[tuple[Points, Floats, int]], start: float | None, end: float | None
) -> tuple[float, float]:
    """Of the axis: as asked for, else what all of the curves cover, so that their buckets are the same."""
    places = [xs for _points, xs, _odd in inside if len(xs)]
    least = min((float(xs.min()) for xs in places), default=0.0)
    greatest = max((float(xs.max()) for xs in places), default=0.0)
    return (least if start is None else start), (greatest if end is None else end)


def _curve(series: Series, points: Points, xs: Floats, odd: int, limits: tuple[float, float], most: int) -> Curve:
    found = sample(points, xs, limits, most)
    return Curve(series.run_id, series.name, odd, found.buckets, found.marks, found.restarts)
