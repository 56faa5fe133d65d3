"""The one place that writes the status of a schedule and of a start: conditional updates, by the table of transitions.

`next_at` belongs to the status: only an active schedule has one.
"""

from collections.abc import Mapping
from datetime import datetime
from typing import Any
from uuid import UUID

from django.db.models.functions import Now

from apps.schedules.choices import PauseReason, ScheduleStatus, StartStatus, Why
from apps.schedules.models import Schedule, ScheduledStart
from apps.schedules.targets import RUN

S, T = ScheduleStatus, StartStatus
# From where each status is reached.
SCHEDULES: Mapping[ScheduleStatus, frozenset[ScheduleStatus]] = {
    S.ACTIVE: frozenset({S.PAUSED, S.ENDED}),
    S.PAUSED: frozenset({S.ACTIVE}),
    S.ENDED: frozenset({S.ACTIVE}),
}
STARTS: Mapping[StartStatus, frozenset[StartStatus]] = {
    T.STARTED: frozenset({T.WAITING}),
    T.SKIPPED: frozenset({T.WAITING}),
    T.WAITING: frozenset(),
}


def activate(schedule: Schedule, next_at: datetime) -> bool:
    """From paused or over; False if it was active already."""
    return _set(schedule, S.ACTIVE, next_at=next_at, pause_reason="", refusals=0)


def pause(schedule: Schedule, reason: PauseReason) -> bool:
    """False if it was not active. What waits of it is skipped by the service."""
    return _set(schedule, S.PAUSED, next_at=None, pause_reason=reason)


def end(schedule: Schedule) -> bool:
    """No moment comes any more."""
    return _set(schedule, S.ENDED, next_at=None)


def _set(schedule: Schedule, status: ScheduleStatus, **columns: Any) -> bool:
    rows = Schedule.objects.filter(pk=schedule.pk, status__in=SCHEDULES[status])
    return bool(rows.update(status=status, status_since=Now(), **columns))


def started(start: ScheduledStart, target: str, started_id: UUID) -> bool:
    return _decide(start, T.STARTED, **{"run_id" if target == RUN else "started_id": started_id})


def skipped(start: ScheduledStart, why: Why, detail: str = "") -> bool:
    return _decide(start, T.SKIPPED, why=why, detail=detail[:500])


def _decide(start: ScheduledStart, status: StartStatus, **columns: Any) -> bool:
    """False if somebody else has decided it."""
    rows = ScheduledStart.objects.filter(pk=start.pk, status__in=STARTS[status])
    return bool(rows.update(status=status, decided_at=Now(), **columns))
