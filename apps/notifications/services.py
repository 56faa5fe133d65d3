"""Telling people. Called inside the transaction of what happened, so that nothing happens untold."""

from collections.abc import Iterable, Mapping
from typing import Any
from uuid import UUID

from django.db.models.functions import Now

from apps.common.actor import Actor
from apps.common.live import organisation_group, publish_on_commit
from apps.notifications.models import Notice
from apps.tenants.choices import Role
from apps.tenants.models import Membership


def notify_user(
    *, organisation_id: UUID, user_id: int, kind: str, data: Mapping[str, Any], dedup: str | None = None
) -> None:
    """Tell one person; a second notice with the same `dedup` key is not written."""
    _write(organisation_id, [user_id], kind, data, dedup)


def notify_organisation(*, organisation_id: UUID, kind: str, data: Mapping[str, Any], dedup: str | None = None) -> None:
    """Tell everyone who looks after an organisation's money: its admins and finance people."""
    people = Membership.objects.filter(
        organisation_id=organisation_id, role__in=[Role.ADMIN, Role.FINANCE], user__is_active=True
    ).values_list("user_id", flat=True)
    _write(organisation_id, people, kind, data, dedup)


def _write(organisation_id: UUID, users: Iterable[int], kind: str, data: Mapping[str, Any], dedup: str | None) -> None:
    Notice.objects.bulk_create(
        [
            Notice(
                organisation_id=organisation_id,
                user_id=user,
                kind=kind,
                data=dict(data),
                dedup=f"{dedup}:{user}" if dedup else "",
            )
            for user in users
        ],
        ignore_conflicts=True,
    )
    publish_on_commit([organisation_group(organisation_id)], {"type": "notice", "kind": kind})


def mark_read(actor: Actor, *, notice_ids: Iterable[int] | None = None) -> int:
    """Mark the actor's own notices read (all of them by default); the number that were unread."""
    mine = Notice.objects.filter(user_id=actor.person(), read_at__isnull=True)
    if notice_ids is not None:
        mine = mine.filter(pk__in=list(notice_ids))
    return int(mine.update(read_at=Now()))
