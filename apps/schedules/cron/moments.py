"""The moments that a cron expression names, in a zone with or without summer time.

What is named exists once for each day: a time that the clock skips is as much later, a time that it shows twice is the
first of both. An expression for every hour goes on through both, by the minutes that there really are.
"""

from collections.abc import Iterator
from datetime import UTC, date, datetime, time, timedelta
from itertools import islice
from zoneinfo import ZoneInfo

from django.utils.translation import gettext_lazy as _

from apps.common.errors import Invalid
from apps.schedules.cron.expression import FIELD, Cron

# The 29th of February comes after eight years at most; a further year for what begins within a day.
MOST_DAYS = 9 * 366
ONE_DAY = timedelta(days=1)


def moments_after(cron: Cron, after: datetime, zone: ZoneInfo) -> Iterator[datetime]:
    """In UTC, each later than the one before; ends where none comes within nine years of the last."""
    day = after.astimezone(zone).date() - ONE_DAY
    last, empty = after, 0
    while empty < MOST_DAYS and day.year < 9999:
        found = [moment for moment in _of_day(cron, day, zone) if moment > last]
        yield from found
        last, empty = (found[-1], 0) if found else (last, empty + 1)
        day += ONE_DAY


def next_moment(cron: Cron, after: datetime, zone: ZoneInfo) -> datetime | None:
    return next(moments_after(cron, after, zone), None)


def next_moments(cron: Cron, after: datetime, zone: ZoneInfo, count: int) -> list[datetime]:
    return list(islice(moments_after(cron, after, zone), count))


def latest_moment(cron: Cron, until: datetime, zone: ZoneInfo) -> datetime | None:
    """The last one that is not after `until`."""
    day = until.astimezone(zone).date() + ONE_DAY
    for _number in range(MOST_DAYS):
        found = [moment for moment in _of_day(cron, day, zone) if moment <= until]
        if found:
            return found[-1]
        day -= ONE_DAY
    return None


def require_moments(cron: Cron, after: datetime, zone: ZoneInfo) -> None:
    """Raises `Invalid` for what never comes, such as the 31st of February."""
    if next_moment(cron, after, zone) is None:
        raise Invalid.field(FIELD, _("There is no such day: this would never start anything."))


def _of_day(cron: Cron, day: date, zone: ZoneInfo) -> list[datetime]:
    if not cron.has_day(day.day, day.month, day.isoweekday() % 7):
        return []
    folds = (0, 1) if cron.every_hour else (0,)
    found = {
        datetime.combine(day, time(hour, minute, fold=fold), tzinfo=zone).astimezone(UTC)
        for hour in cron.hours
        for minute in cron.minutes
        for fold in folds
    }
    return sorted(found)
