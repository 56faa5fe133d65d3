"""Schedules for tests."""

from datetime import datetime, timedelta
from typing import Any

from django.utils import timezone

from apps.common.actor import Actor
from apps.common.scoping import acting
from apps.schedules import services
from apps.schedules.models import Schedule, ScheduledStart
from apps.schedules.reconcile import due, starting
from apps.training.models import Run
from apps.workloads.choices import Status
from apps.workloads.models import Workload
from tests.builders import World, platform
from tests.training import kit as training


def schedule(world: World, run: Run | None = None, *, actor: Actor | None = None, **changes: Any) -> Schedule:
    """Of an ended run, every day at two, but for `changes`."""
    actor = actor or world.actor
    if run is None:
        run = training.submit(world)
        put(run, Status.SUCCEEDED)
    plan = services.Plan(**{"name": "nightly", "cron": "0 2 * * *", **changes})
    with acting(actor):
        return services.create(actor, run.pk, plan)


def put(run: Run, status: Status) -> None:
    """As the loops would leave its workload."""
    with acting(platform()):
        now = timezone.now()
        Workload.objects.filter(pk=run.workload_id).update(status=status, status_since=now, ended_at=now)


def again(row: Schedule) -> Schedule:
    with acting(platform()):
        return Schedule.objects.get(pk=row.pk)


def starts(row: Schedule) -> list[ScheduledStart]:
    """Oldest first."""
    with acting(platform()):
        found = ScheduledStart.objects.filter(schedule=row).select_related("run__workload")
        return list(found.order_by("moment", "created_at"))


def turn(now: datetime | None = None) -> None:
    """One turn of the loop."""
    with acting(platform()):
        due.write_due(now)
        starting.start_waiting()


def come(row: Schedule, ago: timedelta = timedelta(seconds=1)) -> datetime:
    """Its next moment comes, and the loop has a turn."""
    moment = again(row).next_at
    assert moment is not None
    turn(moment + ago)
    return moment
