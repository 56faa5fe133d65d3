"""When an environment is to stop, as people say it: at a time of day, once or every day, or in some time."""

from dataclasses import dataclass
from datetime import UTC, datetime, time, timedelta
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from django.utils.translation import gettext_lazy as _

from apps.common.durations import parse_duration
from apps.common.errors import Invalid
from apps.workloads.run_times import LEAST_S, MOST_S

LONGEST_ZONE = 64


@dataclass(frozen=True, slots=True)
class Shutdown:
    """`at`: a time of day in `zone` (an IANA name), `daily` or once; or in `in_s` seconds, once."""

    zone: str
    at: time | None = None
    in_s: int | None = None
    daily: bool = False

    def first(self, now: datetime) -> datetime:
        """Raises `Invalid` with the field at fault."""
        zone = zone_named(self.zone)
        if (self.at is None) == (self.in_s is None):
            raise Invalid.field("when", _("Give a time of day, such as 23:00, or a time from now, such as 2 h."))
        if self.at is not None:
            return next_at(self.at, zone, now)
        if self.daily:
            raise Invalid.field("daily", _("Only a time of day can come every day."))
        seconds = self.in_s or 0
        if not LEAST_S <= seconds <= MOST_S:
            raise Invalid.field("when", _("Give from one minute to 366 days."))
        return now + timedelta(seconds=seconds)


def parse_when(text: str, *, zone: str, daily: bool) -> Shutdown:
    """`23:00`, or a duration such as `2 h`. Raises `Invalid`."""
    told = text.strip()
    found = parse_duration(told)
    if found is not None:
        return Shutdown(zone, in_s=int(found.total_seconds()), daily=daily)
    try:
        at = datetime.strptime(told.replace("：", ":"), "%H:%M").time()  # noqa: DTZ007 - a time of day, of no date
    except ValueError as error:
        raise Invalid.field("when", _("Give a time of day, such as 23:00, or a time from now, such as 2 h.")) from error
    return Shutdown(zone, at=at, daily=daily)


def zone_named(name: str) -> ZoneInfo:
    """Raises `Invalid`."""
    try:
        if not 0 < len(name) <= LONGEST_ZONE:
            raise ValueError(name)
        return ZoneInfo(name)
    except (ZoneInfoNotFoundError, ValueError, OSError) as error:
        raise Invalid.field("zone", _("There is no such time zone. Give a name such as Asia/Shanghai.")) from error


def next_at(at: time, zone: ZoneInfo, now: datetime) -> datetime:
    """The first moment after `now` at which clocks there show `at`, in UTC; once on each date.

    A time that the clocks skip in spring counts as long after midnight as without the change; of one that comes twice
    in autumn, the first counts.
    """
    day = now.astimezone(zone).date()
    while True:
        moment = datetime.combine(day, at, tzinfo=zone).astimezone(UTC)
        if moment > now:
            return moment
        day += timedelta(days=1)
