"""The loop that reads runs: claim what is due, read outside of a transaction, write points and positions in one.

A process that dies between any two statements leaves either nothing or both. One that was overtaken, since its lease
had ended, finds another fence and writes nothing.
"""

import logging
from collections.abc import Iterable
from datetime import timedelta
from typing import Any

from django.db import transaction
from django.db.models import F, Q

from apps.common.clock import db_now
from apps.common.errors import DomainError, Unavailable
from apps.tracking.collecting.headline import headline_of
from apps.tracking.collecting.models import Collection, Problem
from apps.tracking.collecting.settings import MetricSettings, kinds, settings_of
from apps.tracking.collecting.turn import Turn, read_turn
from apps.tracking.points import MOST_AT_ONCE, LimitReached, Point, check_name
from apps.tracking.services import record
from apps.tracking.tracked_runs import RunGone
from apps.workloads import announce
from apps.workloads.choices import PLACED
from apps.workloads.models import Attempt

log = logging.getLogger(__name__)

LEASE = timedelta(seconds=60)
SOON, LATEST = timedelta(seconds=2), timedelta(seconds=30)
NEW_WITHIN = timedelta(hours=1)
"""So long after it was placed a run that has already ended is still found."""
GIVE_UP = timedelta(days=1)
"""So long after its end a run is tried whose machine cannot be asked."""
_MOST_STEP = 2**62


def collect_due(*, limit: int = 20) -> int:
    """Call in the platform's scope; the number of runs that were looked at."""
    _begin_new()
    claimed = _claim(limit)
    asked = settings_of([each.workload_id for each in claimed])
    for collection in claimed:
        _guarded(collection, asked.get(collection.workload_id, MetricSettings(read=False)))
    return len(claimed)


def _begin_new() -> None:
    """A row for each run that has started and has none."""
    wanted = Attempt.objects.filter(
        Q(workload__status__in=sorted(PLACED)) | Q(placed_at__gt=db_now() - NEW_WITHIN),
        started_at__isnull=False,
        workload__kind__in=kinds(),
        workload__collection__isnull=True,
    )
    found = set(wanted.values_list("workload_id", "workload__organisation_id")[:500])
    rows = [Collection(workload_id=pk, organisation_id=organisation) for pk, organisation in found]
    if rows:
        Collection.objects.bulk_create(rows, ignore_conflicts=True)


def _claim(limit: int) -> list[Collection]:
    with transaction.atomic():
        now = db_now()
        due = Collection.objects.select_for_update(skip_locked=True, of=("self",)).filter(
            Q(lease_until__isnull=True) | Q(lease_until__lt=now), next_at__lte=now, done_at__isnull=True
        )
        rows = list(due.select_related("workload").order_by("next_at")[:limit])
        keys = [each.pk for each in rows]
        Collection.objects.filter(pk__in=keys).update(fence=F("fence") + 1, lease_until=now + LEASE)
    for each in rows:
        each.fence += 1
    return rows


def _guarded(collection: Collection, asked: MetricSettings) -> None:
    """One run's trouble keeps no other from being read."""
    try:
        if not asked.read:
            _write(collection, {"done_at": db_now()})
            return
        apply_turn(collection, read_turn(collection, collection.workload, asked))
    except Unavailable:
        _unseen(collection)
    except RunGone:
        _write(collection, {"done_at": db_now()})
    except Exception:
        log.exception("metrics of %s could not be read", collection.workload_id)
        _write(collection, _later(collection, found=False))


def _unseen(collection: Collection) -> None:
    ended = collection.workload.ended_at
    if ended is not None and db_now() - ended > GIVE_UP:
        _write(collection, {"done_at": db_now(), "problem": Problem.UNSEEN})
    else:
        _write(collection, _later(collection, found=False))


def apply_turn(collection: Collection, turn: Turn) -> bool:
    """Points and positions, together; False if another process has taken over."""
    names = dict(collection.names)
    points = list(_own_points(turn.found, names))
    columns: dict[str, Any] = {**turn.columns, "names": names}
    moved = bool(points) or columns["progress"] != collection.progress
    with transaction.atomic():
        mine = Collection.objects.select_for_update().filter(pk=collection.pk, fence=collection.fence)
        if not mine.exists():
            return False
        columns |= _recorded(collection.workload_id, points) | headline_of(collection, points)
        columns |= {"done_at": db_now()} if turn.finished else _later(collection, found=bool(points) or turn.more)
        Collection.objects.filter(pk=collection.pk).update(**columns, lease_until=None)
        if moved or turn.finished:
            announce.progressed(collection.workload)
    return True


def _recorded(workload_id: Any, points: list[Point]) -> dict[str, Any]:
    """Columns that say what could not be kept: the run is full, and goes on being read for its progress."""
    try:
        with transaction.atomic():
            for start in range(0, len(points), MOST_AT_ONCE):
                record(workload_id=workload_id, points=points[start : start + MOST_AT_ONCE])
    except LimitReached as error:
        return {"problem": Problem.LIMIT, "problem_detail": str(error.message)[:300]}
    return {}


def _own_points(found: Iterable[tuple[str, list[Point]]], names: dict[str, str]) -> Iterable[Point]:
    """What can be kept. A name belongs to the source that said it first: a loss that is printed and written to a file
    is one series, not two in one."""
    latest = db_now().timestamp()
    for source, points in found:
        for point in points:
            if names.get(point.name, source) != source or not _can_be_kept(point):
                continue
            names.setdefault(point.name, source)
            yield point if point.at <= latest else Point(point.name, point.value, point.step, latest)


def _can_be_kept(point: Point) -> bool:
    try:
        check_name(point.name, "")
    except DomainError:
        return False
    return point.at >= 0 and (point.step is None or abs(point.step) < _MOST_STEP)


def _later(collection: Collection, *, found: bool) -> dict[str, Any]:
    """When it is looked at next: soon while it says something, ever less often while it does not."""
    quiet = 0 if found else min(collection.quiet + 1, 10)
    pause = (
        SOON if collection.workload.ended_at is not None and not quiet else min(SOON * 2 ** max(0, quiet - 1), LATEST)
    )
    return {"quiet": quiet, "next_at": db_now() + pause}


def _write(collection: Collection, columns: dict[str, Any]) -> None:
    Collection.objects.filter(pk=collection.pk, fence=collection.fence).update(**columns, lease_until=None)
