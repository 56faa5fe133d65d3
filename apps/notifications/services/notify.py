"""Telling people. Called inside the transaction of what happened, so that nothing happens untold.

Whatever `notify_*` is called with, three things are written in that transaction: the notice in the page, what has to
leave by mail or SMS (the outbox), and what the organisation's webhooks are told. Nothing is sent before it commits.
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
from apps.notifications.services.dispatch import leave
from apps.notifications.services.hooks import tell_hooks
from apps.tenants.choices import Role
from apps.tenants.models import Membership, PlatformAssignment, User
from apps.tenants.roles import ORGANISATION_ROLES, PLATFORM_ROLES


@dataclass(frozen=True, slots=True)
class Matter:
    """What happened. `organisation_id` None: a matter of the platform. One `dedup` key is told once to each person."""

    organisation_id: UUID | None
    kind: str
    data: Mapping[str, Any]
    dedup: str | None = None


def notify_user(
    *, organisation_id: UUID, user_id: int, kind: str, data: Mapping[str, Any], dedup: str | None = None
) -> None:
    """Tell one person; a second notice with the same `dedup` key is not written."""
    _tell(Matter(organisation_id, kind, data, dedup), [user_id])


def notify_people(
    *, organisation_id: UUID, user_ids: Iterable[int], kind: str, data: Mapping[str, Any], dedup: str | None = None
) -> None:
    """Tell several people of one organisation the same; its webhooks hear it once."""
    _tell(Matter(organisation_id, kind, data, dedup), list(user_ids))


def notify_organisation(
    *,
    organisation_id: UUID,
    kind: str,
    data: Mapping[str, Any],
    dedup: str | None = None,
    permission: Permission | None = None,
) -> None:
    """Tell those who look after an organisation's money (its admins and finance people), or who hold `permission`."""
    with acting(system_actor()):
        people = list(_members(organisation_id, permission).values_list("user_id", flat=True))
    _tell(Matter(organisation_id, kind, data, dedup), people)


def notify_platform(*, permission: Permission, kind: str, data: Mapping[str, Any], dedup: str | None = None) -> None:
    """Tell the platform's staff who hold `permission`; they find it in the console."""
    roles = [role for role, granted in PLATFORM_ROLES.items() if permission in granted]
    holders = PlatformAssignment.objects.filter(
        Q(role__in=roles) | Q(defined__permissions__contains=[permission.value]), user__is_active=True
    )
    people = list(holders.order_by().values_list("user_id", flat=True).distinct())
    _tell(Matter(None, kind, data, dedup), people)


def notify_staff(*, user_id: int, kind: str, data: Mapping[str, Any], dedup: str | None = None) -> None:
    """Tell one of the platform's staff; they find it in the console."""
    _tell(Matter(None, kind, data, dedup), [user_id])


def notify_person(*, user: User, kind: str, data: Mapping[str, Any], dedup: str | None = None) -> None:
    """Tell somebody about themselves, in the organisation they work in; who has none finds it in the mail."""
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
        leave(fresh)
        if matter.organisation_id is not None:
            tell_hooks(matter.organisation_id, matter.kind, matter.data, matter.dedup)
    group = organisation_group(matter.organisation_id) if matter.organisation_id else PLATFORM_GROUP
    if fresh:
        publish_on_commit([group, *map(person_group, people)], {"type": "notice", "kind": matter.kind})


def _written(matter: Matter, people: list[int]) -> list[Notice]:
    """The notices that are new: those told before are left out."""
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
