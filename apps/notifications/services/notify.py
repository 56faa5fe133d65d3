"""Notify people. Call it inside the transaction of the event, so that no event goes without its notice.

Every `notify_*` writes three things in that transaction: the notice in the page, deliveries by mail or SMS (the
outbox), and events for the organisation's webhooks. Nothing is sent before it commits.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from django.db.models import Q, QuerySet

from apps.common.actor import system_actor
from apps.common.live import PLATFORM_GROUP, organisation_group, person_group, publish_on_commit
from apps.common.permissions import Permission
from apps.common.scoping import acting
from apps.notifications.models import Notice
from apps.notifications.services.dispatch import queue_deliveries
from apps.notifications.services.hooks import queue_webhooks
from apps.tenants.choices import Role
from apps.tenants.models import Membership, User
from apps.tenants.roles import ORGANISATION_ROLES
from apps.tenants.selectors import staff_with


@dataclass(frozen=True, slots=True)
class Matter:
    """An event. `organisation_id` None: an event of the platform. One `dedup` key reaches each person once."""

    organisation_id: UUID | None
    kind: str
    data: Mapping[str, Any]
    dedup: str | None = None


def notify_user(
    *, organisation_id: UUID, user_id: int, kind: str, data: Mapping[str, Any], dedup: str | None = None
) -> None:
    """Notify one person; a second notice with the same `dedup` key is not written."""
    _tell(Matter(organisation_id, kind, data, dedup), [user_id])


def notify_people(
    *, organisation_id: UUID, user_ids: Iterable[int], kind: str, data: Mapping[str, Any], dedup: str | None = None
) -> None:
    """Send the same notice to several people of one organisation; its webhooks get it once."""
    _tell(Matter(organisation_id, kind, data, dedup), list(user_ids))


def notify_organisation(
    *,
    organisation_id: UUID,
    kind: str,
    data: Mapping[str, Any],
    dedup: str | None = None,
    permission: Permission | None = None,
) -> None:
    """Notify an organisation's admins and finance people, or everybody who holds `permission`."""
    _tell(Matter(organisation_id, kind, data, dedup), people_of(organisation_id, permission))


def people_of(organisation_id: UUID, permission: Permission | None = None) -> list[int]:
    """Whom `notify_organisation` notifies."""
    with acting(system_actor()):
        return list(_members(organisation_id, permission).values_list("user_id", flat=True))


def notify_platform(
    *,
    permission: Permission,
    kind: str,
    data: Mapping[str, Any],
    dedup: str | None = None,
    but: int | None = None,
) -> None:
    """Notify the platform's staff who hold `permission`, in the console; `but` whoever caused it."""
    _tell(Matter(None, kind, data, dedup), staff_with(permission, but=but))


def notify_staff(*, user_id: int, kind: str, data: Mapping[str, Any], dedup: str | None = None) -> None:
    """Notify one of the platform's staff, in the console."""
    _tell(Matter(None, kind, data, dedup), [user_id])


def notify_person(*, user: User, kind: str, data: Mapping[str, Any], dedup: str | None = None) -> None:
    """Notify somebody about their own account, in the organisation they work in; by mail only if they have none."""
    with acting(system_actor()):
        mine = Membership.objects.filter(user=user).order_by("pk").values_list("organisation_id", flat=True)
        homes = list(mine)
    home = user.current_organisation_id if user.current_organisation_id in homes else next(iter(homes), None)
    _tell(Matter(home, kind, data, dedup), [user.pk])


def _members(organisation_id: UUID, permission: Permission | None) -> QuerySet[Membership]:
    members: QuerySet[Membership] = Membership.objects.filter(organisation_id=organisation_id, user__is_active=True)
    if permission is None:
        return members.filter(role__in=[Role.ADMIN, Role.FINANCE])
    roles = [role for role, granted in ORGANISATION_ROLES.items() if permission in granted]
    by_base = Q(own_role__isnull=True, role__in=roles)
    return members.filter(by_base | Q(own_role__permissions__contains=[permission.value]))


def _tell(matter: Matter, people: list[int]) -> None:
    with acting(system_actor()):  # the caller's scope may be another organisation's, or nobody's
        fresh = _written(matter, people)
        queue_deliveries(fresh)
        if matter.organisation_id is not None:
            queue_webhooks(matter.organisation_id, matter.kind, matter.data, matter.dedup)
    group = organisation_group(matter.organisation_id) if matter.organisation_id else PLATFORM_GROUP
    if fresh:
        publish_on_commit([group, *map(person_group, people)], {"type": "notice", "kind": matter.kind})


def _written(matter: Matter, people: list[int]) -> list[Notice]:
    """Write the notices; returns the new ones, without those sent before."""
    rows = [
        Notice(
            organisation_id=matter.organisation_id,
            user_id=user,
            kind=matter.kind,
            data=dict(matter.data),
            dedup=f"{matter.dedup}:{user}" if matter.dedup else "",
        )
        for user in people
    ]
    if not matter.dedup:
        return list(Notice.objects.bulk_create(rows))
    keys = {row.dedup for row in rows}
    keys -= set(Notice.objects.filter(dedup__in=keys).values_list("dedup", flat=True))
    fresh = [row for row in rows if row.dedup in keys]
    Notice.objects.bulk_create(fresh, ignore_conflicts=True)
    return list(Notice.objects.filter(dedup__in=keys))
