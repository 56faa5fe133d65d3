"""The points of a series as they are, page by page, in the order in which they arrived."""

from dataclasses import dataclass
from uuid import UUID

import numpy as np

from apps.common.errors import NotFound
from apps.tracking import stored
from apps.tracking.models import Series
from apps.tracking.points import Point, Points, joined, microseconds
from apps.tracking.stored import Range

RECENT = 25_000


@dataclass(frozen=True, slots=True)
class Page:
    """`count`: of the whole series."""

    points: Points
    count: int


def page(run_id: UUID, name: str, *, after: int, most: int) -> Page:
    """At most so many points from number `after` on, of a run that the caller may see; raises `NotFound`."""
    series = Series.objects.filter(run_id=run_id, name=name).first()
    if series is None:
        raise NotFound
    pieces = stored.read([run_id], [series.pk], Range("number", after, after + most - 1))
    begins = pieces[0].first if pieces else after
    points = joined([piece.points for piece in pieces])
    return Page(points[max(0, after - begins) :][:most], series.count)


def holds(run_id: UUID, point: Point) -> bool:
    """Whether this very point is among the last `RECENT` of its series."""
    count = Series.objects.filter(run_id=run_id, name=point.name).values_list("count", flat=True).first()
    if not count:
        return False
    last = page(run_id, point.name, after=max(0, count - RECENT), most=RECENT).points
    values = np.isnan(last.values) if np.isnan(point.value) else last.values == point.value
    same = (last.steps == point.step) & (last.moments == microseconds([point.at], 1)[0]) & values
    return bool(same.any())
