"""The services that other apps call: notify people, and manage notices."""

from apps.notifications.services.hooks import PRIVATE
from apps.notifications.services.notify import (
    notify_organisation,
    notify_people,
    notify_person,
    notify_platform,
    notify_staff,
    notify_user,
    people_of,
)
from apps.notifications.services.reading import mark_read

__all__ = [
    "PRIVATE",
    "mark_read",
    "notify_organisation",
    "notify_people",
    "notify_person",
    "notify_platform",
    "notify_staff",
    "notify_user",
    "people_of",
]
