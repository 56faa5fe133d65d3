"""What the rest of the house calls: telling people, and what people do with what they are told."""

from apps.notifications.services.notify import (
    notify_organisation,
    notify_people,
    notify_person,
    notify_platform,
    notify_staff,
    notify_user,
)
from apps.notifications.services.reading import mark_read

__all__ = [
    "mark_read",
    "notify_organisation",
    "notify_people",
    "notify_person",
    "notify_platform",
    "notify_staff",
    "notify_user",
]
