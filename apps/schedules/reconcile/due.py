"""Write down the moments that have come, each once, and move schedules on to the next.

A start and the schedule's `next_at` are written in one transaction under the row's lock, and a unique key names the
moment: two loops, or one that dies in between, neither write it twice nor lose it. All moments that passed since the
last turn are one start: whoever was away for a day wants the newest result, not twenty-four old ones.
"""

from datetime import datetime
from itertools import takewhile
from uuid import UUID

from django.db import transaction

from apps.billing.days import BILLING_ZONE
from apps.common.clock import db_now
from apps.schedules import states
from apps.schedules.choices import Cause, ScheduleStatus
from apps.schedules.cron.expression import Cron, read_cron
from apps.schedules.cron.moments import latest_moment, moments_after
from apps.schedules.models import Schedule, ScheduledStart
from apps.schedules.services import next_of

MOST_COUNTED = 1000


def write_due(now: datetime | None = None) -> int:
    """How many starts were written down. Call in the platform's scope. `now`: for tests, that of the database else."""
    now = now or db_now()
    due = Schedule.objects.filter(status=ScheduleStatus.ACTIVE, next_at__lte=now).order_by("next_at")
    return sum(_write(schedule_id, now) for schedule_id in due.values_list("pk", flat=True))


def _write(schedule_id: UUID, now: datetime) -> bool:
    with transaction.atomic():
        rows = Schedule.objects.select_for_update(skip_locked=True)
        row = rows.filter(pk=schedule_id, status=ScheduleStatus.ACTIVE, next_at__lte=now).first()
        if row is None or row.next_at is None:  # another loop is at it, or has been
            return False
        cron, last = read_cron(row.cron), min(now, row.until_at or now)
        moment = max(row.next_at, latest_moment(cron, last, BILLING_ZONE) or row.next_at)
        ScheduledStart.objects.get_or_create(
            schedule=row,
            key=f"time:{moment.isoformat()}",
            defaults={
                "organisation_id": row.organisation_id,
                "cause": Cause.TIME,
                "moment": moment,
                "missed": _between(cron, row.next_at, moment),
            },
        )
        next_at = next_of(cron, now, row.until_at)
        if next_at is None:
            states.end(row)
        else:
            Schedule.objects.filter(pk=row.pk).update(next_at=next_at)
        return True


def _between(cron: Cron, first: datetime, last: datetime) -> int:
    """How many moments there are from `first` to before `last`; 1,000 stands for more."""
    if first >= last:
        return 0
    later = takewhile(lambda moment: moment < last, moments_after(cron, first, BILLING_ZONE))
    return min(MOST_COUNTED, 1 + sum(1 for _moment, _number in zip(later, range(MOST_COUNTED), strict=False)))
