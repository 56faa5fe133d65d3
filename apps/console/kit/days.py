"""Days of the site's zone as instants."""

from datetime import date, datetime, time

from django.utils import timezone

from apps.common.errors import NotFound


def start_of(day: date) -> datetime:
    """Midnight of a day."""
    return timezone.make_aware(datetime.combine(day, time.min))


def day_of(text: str) -> date:
    """The day that a path names as YYYY-MM-DD; `NotFound` for anything else."""
    try:
        return date.fromisoformat(text)
    except ValueError as error:
        raise NotFound from error
