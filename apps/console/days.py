"""Days of the site's zone as instants."""

from datetime import date, datetime, time

from django.utils import timezone


def start_of(day: date) -> datetime:
    """Midnight of a day."""
    return timezone.make_aware(datetime.combine(day, time.min))
