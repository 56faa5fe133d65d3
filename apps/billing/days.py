"""Days of the billing zone, from midnight to midnight there: the days by which we charge, grant and count. Pure."""

from datetime import date, datetime, time
from zoneinfo import ZoneInfo

from django.conf import settings

BILLING_ZONE = ZoneInfo(settings.BILLING_TIME_ZONE)


def billing_day(at: datetime) -> date:
    """The day that a moment is charged to."""
    return at.astimezone(BILLING_ZONE).date()


def midnight(day: date) -> datetime:
    """When the day begins. The billing zone is whole hours from UTC: no usage slice crosses it."""
    return datetime.combine(day, time.min, tzinfo=BILLING_ZONE)
