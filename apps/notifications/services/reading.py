"""Marking notices read."""

from collections.abc import Iterable

from django.db.models.functions import Now

from apps.common.actor import Actor
from apps.common.live import person_group, publish_on_commit
from apps.notifications.selectors import own_notices


def mark_read(actor: Actor, *, notice_ids: Iterable[int] | None = None) -> int:
    """Mark the actor's own notices read (all of them by default); the number that were unread."""
    rows = own_notices(actor).filter(read_at__isnull=True)
    if notice_ids is not None:
        rows = rows.filter(pk__in=list(notice_ids))
    publish_on_commit([person_group(actor.person())], {"type": "notice", "kind": "read"})  # for other tabs
    return int(rows.update(read_at=Now()))
