"""A queue that stands still: work that could start and does not, pass after pass. Told, shown, and set going again.

Each pass is checked by the scheduler's `standstill`. One pass may leave what only the next one can place, so a task
counts once it was named for a minute without a break. Then all promises of its world are forgotten: a promise is the
one thing that passes hand on to each other, and so the one thing that may keep several tasks from starting for ever.
"""

import logging
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from uuid import UUID

from apps.common.clock import db_now
from apps.common.permissions import Permission
from apps.notifications.services import notify_platform
from apps.workloads.models import SchedulerEpoch
from apps.workloads.queueing import promises

log = logging.getLogger(__name__)

TOLD_AFTER = timedelta(seconds=60)

Since = Mapping[str, str]
"""By id of the task: since when each pass has named it, ISO 8601."""


@dataclass(frozen=True, slots=True)
class Standstill:
    """Tasks that wait beside free room for longer than `TOLD_AFTER`."""

    tasks: tuple[UUID, ...]
    since: datetime


def standing_since(before: Since, named: Iterable[str], now: datetime) -> dict[str, str]:
    """Those that are named now, each since its first time without a break."""
    return {task: before.get(task, now.isoformat()) for task in named}


def standstill_of(since: Since, now: datetime) -> Standstill | None:
    """Of those that were named for long enough."""
    long = {task: at for task, text in since.items() if now - (at := datetime.fromisoformat(text)) >= TOLD_AFTER}
    return Standstill(tuple(map(UUID, sorted(long))), min(long.values())) if long else None


def standing(simulated: bool) -> dict[str, str]:
    """What the last pass left waiting beside free room in this world."""
    kept = SchedulerEpoch.objects.filter(pk=1).values_list("standing", flat=True).first() or {}
    named: dict[str, str] = kept.get(_world(simulated), {})
    return named


def standstill_to_show(simulated: bool) -> Standstill | None:
    """The standstill of this world, for operators."""
    return standstill_of(standing(simulated), db_now())


def release_standstill(standstill: Standstill, waiting: Collection[str], simulated: bool) -> None:
    """Forget what was promised to those who wait in this world, and tell operators, once for each standstill."""
    promises.forget(map(UUID, waiting))
    log.error("%d tasks wait beside free room since %s", len(standstill.tasks), standstill.since)
    notify_platform(
        permission=Permission.PLATFORM_NODES_MANAGE,
        kind="queue.standstill",
        data={
            "workloads": len(standstill.tasks),
            "since": standstill.since.isoformat(),
            "world": _world(simulated),
        },
        dedup=f"queue.standstill:{_world(simulated)}:{standstill.since.timestamp()}",
    )


def _world(simulated: bool) -> str:
    return "simulated" if simulated else "real"
