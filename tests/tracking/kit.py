"""Points for tests, and all that is stored of a series."""

from collections.abc import Sequence
from uuid import UUID

from apps.common.scoping import acting
from apps.tracking import selectors, services, stored
from apps.tracking.models import Series
from apps.tracking.points import Point, Points, joined
from apps.tracking.selectors import SeriesInfo
from tests.builders import platform

AT = 1_700_000_000.0


def point(name: str = "loss", value: float = 0.5, step: int | None = None, at: float = AT) -> Point:
    return Point(name, value, step, at)


def ramp(count: int, name: str = "loss", start: int = 0) -> list[Point]:
    return [Point(name, float(step), step, AT + step) for step in range(start, start + count)]


def record(run_id: UUID, points: Sequence[Point]) -> services.Recorded:
    return services.record(workload_id=run_id, points=points)


def kept(run_id: UUID, name: str = "loss") -> Points:
    """All points of a series, in order of arrival."""
    with acting(platform()):
        series = Series.objects.get(run_id=run_id, name=name)
        return joined([piece.points for piece in stored.read([run_id], [series.pk])])


def info(run_id: UUID, name: str = "loss") -> SeriesInfo:
    with acting(platform()):
        return next(each for each in selectors.infos(run_id) if each.name == name)
