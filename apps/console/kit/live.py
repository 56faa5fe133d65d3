"""Where a page's live updates begin."""

from django.db.models import Max

from apps.workloads.models import Event


def newest_event_id() -> int:
    """Where a page's live updates begin: events after this one are news to it."""
    newest: int | None = Event.objects.aggregate(newest=Max("pk"))["newest"]
    return newest or 0
