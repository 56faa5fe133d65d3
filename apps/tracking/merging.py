"""Move points from batches into chunks of their series.

A writer is never waited for and never waits: it adds batches, a merge takes those that it saw, both in transactions of
their own. A new chunk takes in the smaller ones before it, as a log-structured merge tree does, so that a point is
written again a few times at most, however slowly its series grows.
"""

from collections import defaultdict
from collections.abc import Iterator, Sequence
from datetime import timedelta
from uuid import UUID

import numpy as np
from django.db import connection, transaction
from django.db.models import Count, F, Max, Min, Q, Sum

from apps.common.advisory import try_lock
from apps.common.clock import db_now
from apps.tracking import codec
from apps.tracking.batches import by_slot
from apps.tracking.models import PointBatch, PointChunk
from apps.tracking.outlines import outline_of
from apps.tracking.points import Points, joined

FULL = 4096
BATCHES = 64
"""So many waiting batches of a run are merged, or so many points, or whatever has waited for so long."""
WAITING_POINTS = 50_000
WAITED = timedelta(minutes=5)
RUNS_AT_ONCE = 200
POINTS_AT_ONCE = 400_000


def merge_due() -> int:
    """Merge what is due; returns how many batches are gone. Call in the platform's scope."""
    waiting = (
        PointBatch.objects.order_by()
        .values("run_id")
        .annotate(n=Count("pk"), points=Sum("count"), age=Min("created_at"))
    )
    due = waiting.filter(Q(n__gte=BATCHES) | Q(points__gte=WAITING_POINTS) | Q(age__lte=db_now() - WAITED))
    return sum(merge(row["run_id"]) for row in due.order_by("age")[:RUNS_AT_ONCE])


def merge(run_id: UUID) -> int:
    """The oldest batches of a run; returns how many. None where another process is at it."""
    with transaction.atomic():
        if not try_lock(_lock(run_id)):
            return 0
        batches = _oldest(run_id)
        if not batches:
            return 0
        gained = _by_series(batches)
        tails, ends = _tails(list(gained)), _ends(list(gained))
        replaced: list[int] = []
        added: list[PointChunk] = []
        for series_id, points in gained.items():
            taken, whole = _take_in(tails.get(series_id, []), points)
            first = taken[-1].first if taken else ends.get(series_id, 0)
            replaced += [each.pk for each in taken]
            added += _chunks(batches[0].organisation_id, series_id, first, whole)
        PointChunk.objects.filter(pk__in=replaced).delete()
        PointChunk.objects.bulk_create(added, batch_size=500)
        PointBatch.objects.filter(pk__in=[each.pk for each in batches]).delete()
    return len(batches)


def hold_merges(run_id: UUID) -> None:
    """Wait for a merge of this run and let none begin before the transaction ends."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_advisory_xact_lock(hashtextextended(%s, 0))", [_lock(run_id)])


def _lock(run_id: UUID) -> str:
    return f"tracking merge {run_id}"


def _oldest(run_id: UUID) -> list[PointBatch]:
    found: list[PointBatch] = []
    total = 0
    for batch in PointBatch.objects.filter(run_id=run_id).order_by("pk").iterator(chunk_size=100):
        total += batch.count
        if found and total > POINTS_AT_ONCE:
            break
        found.append(batch)
    return found


def _by_series(batches: Sequence[PointBatch]) -> dict[int, Points]:
    parts: dict[int, list[Points]] = defaultdict(list)
    for batch in batches:
        grouped = by_slot(codec.unpack_slots(batch.slots), codec.unpack(batch.points), len(batch.series_ids))
        for series_id, points in zip(batch.series_ids, grouped, strict=True):
            parts[series_id].append(points)
    return {series_id: joined(each) for series_id, each in parts.items()}


def _tails(series: list[int]) -> dict[int, list[PointChunk]]:
    """Chunks that are not full, which are the last ones of their series; the latest first."""
    found: dict[int, list[PointChunk]] = defaultdict(list)
    for chunk in PointChunk.objects.filter(series_id__in=series, count__lt=FULL).order_by("-first"):
        found[chunk.series_id].append(chunk)
    return found


def _ends(series: list[int]) -> dict[int, int]:
    """How many points of each series are in chunks."""
    rows = PointChunk.objects.filter(series_id__in=series).order_by().values("series_id")
    return {row["series_id"]: row["end"] for row in rows.annotate(end=Max(F("first") + F("count")))}


def _take_in(tail: Sequence[PointChunk], points: Points) -> tuple[list[PointChunk], Points]:
    """Those of the tail that go into one with the new points, the latest first, and all of their points."""
    taken: list[PointChunk] = []
    count = len(points)
    for chunk in tail:
        if chunk.count > 2 * count:
            break
        taken.append(chunk)
        count += chunk.count
    return taken, joined([*(codec.unpack(chunk.points) for chunk in reversed(taken)), points])


def _chunks(organisation_id: UUID, series_id: int, first: int, points: Points) -> Iterator[PointChunk]:
    for start in range(0, len(points), FULL):
        part = points[start : start + FULL]
        outline = outline_of(part)
        yield PointChunk(
            organisation_id=organisation_id,
            series_id=series_id,
            first=first + start,
            count=len(part),
            odd_count=len(part) - int(np.count_nonzero(np.isfinite(part.values))),
            min_step=int(part.steps.min()),
            max_step=int(part.steps.max()),
            min_moment=int(part.moments.min()),
            max_moment=int(part.moments.max()),
            points=codec.pack(part),
            outline=b"" if outline is None else codec.pack(outline),
        )
