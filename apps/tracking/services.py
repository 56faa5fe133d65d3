"""Writing what runs say of themselves. A batch is taken whole or not at all, and only once where its sender counts."""

from collections.abc import Sequence
from dataclasses import dataclass
from uuid import UUID

from django.db import connection
from django.utils.translation import gettext as _

from apps.tracking import codec
from apps.tracking.batches import Batch, Gain, batch_of, gains
from apps.tracking.models import PointBatch, Sender, Series, TrackedRun
from apps.tracking.points import MOST_NAMES, MOST_POINTS, LimitReached, Point, check
from apps.tracking.tracked_runs import writing


@dataclass(frozen=True, slots=True)
class Recorded:
    """What was taken: how many points, and which names were new. `repeated`: it was here already."""

    points: int
    new_names: tuple[str, ...] = ()
    repeated: bool = False


@dataclass(frozen=True, slots=True)
class Parcel:
    """How a sender numbers what it sends: rising from 1. A number that is not higher than the last was taken before."""

    sender: str
    number: int


def record(*, workload_id: UUID, points: Sequence[Point]) -> Recorded:
    """What the platform's own collectors found of a run; they read for its owner, so nobody's rights are asked.

    Inside of a transaction it is part of that one: a collector that notes how far it read there repeats nothing.
    """
    return add_points(run_id=workload_id, points=points)


def add_points(*, run_id: UUID, points: Sequence[Point], parcel: Parcel | None = None) -> Recorded:
    """Points of a run or of one nested in it; the caller has asked whether they may be written.

    Raises `Invalid` for what cannot be kept, `LimitReached` where the run is full, `NotFound` and `RunGone`.
    """
    check(points)
    with writing(run_id) as run:
        if parcel is not None and not _is_next(run, parcel):
            return Recorded(0, repeated=True)
        return _add(run, points) if points else Recorded(0)


def _add(run: TrackedRun, points: Sequence[Point]) -> Recorded:
    names = list(dict.fromkeys(each.name for each in points))
    if run.point_count + len(points) > MOST_POINTS:
        raise LimitReached(_("A run keeps at most %(most)s points.") % {"most": MOST_POINTS})
    rows = Series.objects.filter(run=run, name__in=names).values_list("name", "pk", "last_step")
    known = {name: (pk, step) for name, pk, step in rows}
    new = [name for name in names if name not in known]
    ids = {**{name: pk for name, (pk, _step) in known.items()}, **_new_series(run, new)}
    batch = batch_of(points, {name: step for name, (_pk, step) in known.items()})
    series = [ids[name] for name in batch.names]
    PointBatch.objects.create(
        organisation_id=run.organisation_id,
        run=run,
        series_ids=series,
        count=len(points),
        slots=codec.pack_slots(batch.slots),
        points=codec.pack(batch.points),
    )
    _sum_up(series, batch)
    counts = {"series_count": run.series_count + len(new), "point_count": run.point_count + len(points)}
    TrackedRun.objects.filter(pk=run.pk).update(**counts)
    return Recorded(len(points), tuple(new))


def _new_series(run: TrackedRun, names: list[str]) -> dict[str, int]:
    if run.series_count + len(names) > MOST_NAMES:
        raise LimitReached(
            _("A run keeps at most %(most)s metrics; “%(name)s” would be one more.")
            % {"most": MOST_NAMES, "name": names[MOST_NAMES - run.series_count]},
            hint=_("Use fewer names, and steps for what changes with time."),
        )
    rows = [Series(organisation_id=run.organisation_id, run=run, name=name) for name in names]
    return {row.name: row.pk for row in Series.objects.bulk_create(rows)}


_SUMS = """
    UPDATE tracking_series AS s SET
        count = s.count + g.count,
        odd_count = s.odd_count + g.odd,
        first_step = COALESCE(s.first_step, g.first_step),
        first_moment = COALESCE(s.first_moment, g.first_moment),
        last_value = g.last_value, last_step = g.last_step, last_moment = g.last_moment,
        min_step = CASE WHEN s.min_value <= g.min_value THEN s.min_step ELSE COALESCE(g.min_step, s.min_step) END,
        min_value = LEAST(s.min_value, g.min_value),
        max_step = CASE WHEN s.max_value >= g.max_value THEN s.max_step ELSE COALESCE(g.max_step, s.max_step) END,
        max_value = GREATEST(s.max_value, g.max_value)
    FROM unnest(
        %s::bigint[], %s::bigint[], %s::bigint[], %s::bigint[], %s::bigint[], %s::float8[], %s::bigint[], %s::bigint[],
        %s::float8[], %s::bigint[], %s::float8[], %s::bigint[]
    ) AS g (id, count, odd, first_step, first_moment, last_value, last_step, last_moment,
            min_value, min_step, max_value, max_step)
    WHERE s.id = g.id
"""


def _sum_up(series: Sequence[int], batch: Batch) -> None:
    """One statement for all series of a batch, under the lock of their run."""
    found = gains(batch)
    columns = [[getattr(gain, name) for gain in found] for name in Gain.__slots__]
    with connection.cursor() as cursor:
        cursor.execute(_SUMS, [list(series), *columns])


def _is_next(run: TrackedRun, parcel: Parcel) -> bool:
    """Note the number, unless what it numbers is here already. The run's lock keeps two deliveries apart."""
    known = Sender.objects.filter(run=run, key=parcel.sender)
    if known.filter(number__gte=parcel.number).exists():
        return False
    if not known.update(number=parcel.number):
        Sender.objects.create(organisation_id=run.organisation_id, run=run, key=parcel.sender, number=parcel.number)
    return True
