"""Build the actor of a signed-in person. Rights are read anew for each request, so a revoked role ends at once."""

from collections import defaultdict
from collections.abc import Collection, Iterable
from functools import cached_property
from typing import TypeVar
from uuid import UUID

from django.db.models import QuerySet
from django_scopes import scopes_disabled

from apps.common.actor import Actor, Channel
from apps.common.errors import Denied, NoMember
from apps.common.permissions import Permission
from apps.common.prepared import prepared_in_scope
from apps.tenants.choices import OrganisationStatus, PlatformRole
from apps.tenants.models import Membership, PlatformAssignment, User
from apps.tenants.roles import PLATFORM_ROLES, permissions_of, platform_names

Row = TypeVar("Row", Membership, PlatformAssignment)


def memberships(user: User) -> list[Membership]:
    """Every organisation that the person belongs to, by name; frozen ones too, they may still be read."""
    return People([user.pk]).memberships(user)


class People:
    """What the roles of some people are: read for all of them in one statement, when it is first asked for."""

    def __init__(self, user_ids: Collection[int]) -> None:
        self.user_ids = user_ids

    def memberships(self, user: User) -> list[Membership]:
        """See the function of this name."""
        return self._memberships[user.pk]

    def assignments(self, user: User) -> list[PlatformAssignment]:
        """The person's roles among the platform's staff; none for a disabled account."""
        return self._assignments[user.pk]

    @cached_property
    def _memberships(self) -> defaultdict[int, list[Membership]]:
        with scopes_disabled():
            return _by_person(_memberships_of(user_ids=tuple(self.user_ids)))

    @cached_property
    def _assignments(self) -> defaultdict[int, list[PlatformAssignment]]:
        with scopes_disabled():
            return _by_person(_assignments_of(user_ids=tuple(self.user_ids)))


@prepared_in_scope
def _memberships_of(*, user_ids: tuple[int, ...]) -> QuerySet[Membership]:
    rows: QuerySet[Membership] = Membership.objects.filter(user_id__in=user_ids)
    return rows.select_related("organisation", "department", "own_role").order_by("organisation__name")


@prepared_in_scope
def _assignments_of(*, user_ids: tuple[int, ...]) -> QuerySet[PlatformAssignment]:
    rows = PlatformAssignment.objects.filter(user_id__in=user_ids, user__is_active=True)
    return rows.select_related("defined")


def _by_person(rows: Iterable[Row]) -> defaultdict[int, list[Row]]:
    found = defaultdict[int, list[Row]](list)
    for row in rows:
        found[row.user_id].append(row)
    return found


def current_membership(user: User) -> Membership | None:
    """The membership that the person works in: the one chosen last, else the first."""
    return pick_current(memberships(user), user)


def pick_current(mine: list[Membership], user: User) -> Membership | None:
    """`current_membership` among memberships that were already read."""
    chosen = [m for m in mine if m.organisation_id == user.current_organisation_id]
    return next(iter(chosen or mine), None)


def organisation_actor(
    user: User,
    organisation_id: UUID | None = None,
    *,
    channel: Channel = Channel.WEB,
    address: str | None = None,
    mine: list[Membership] | None = None,
) -> Actor:
    """The person acting in one organisation (their current one by default); raises `NoMember`.

    `mine`: the person's memberships, where they have just been read.
    """
    mine = memberships(user) if mine is None else mine
    if organisation_id is None:
        membership = pick_current(mine, user)
    else:
        membership = next((m for m in mine if m.organisation_id == organisation_id), None)
    if membership is None:
        raise NoMember(Permission.ORGANISATION_VIEW)
    granted = permissions = permissions_of(membership)
    if membership.organisation.status != OrganisationStatus.ACTIVE:
        permissions = frozenset(p for p in granted if ".view" in p)
    return Actor(
        user_id=user.pk,
        label=user.display_name,
        organisation_id=membership.organisation_id,
        department_id=membership.department_id,
        permissions=permissions,
        channel=channel,
        address=address,
        withheld=granted - permissions,
        priority=membership.priority,
    )


def platform_permissions(user: User, given: Iterable[PlatformAssignment] | None = None) -> frozenset[Permission]:
    """What the person's roles among the platform's staff allow, base roles and defined ones together.

    `given`: these roles, where they have just been read.
    """
    given = People([user.pk]).assignments(user) if given is None else given
    return frozenset().union(
        *(
            platform_names(each.defined.permissions) if each.defined else PLATFORM_ROLES[PlatformRole(each.role)]
            for each in given
        )
    )


def platform_actor(
    user: User,
    *,
    channel: Channel = Channel.WEB,
    address: str | None = None,
    given: Iterable[PlatformAssignment] | None = None,
) -> Actor:
    """The person acting as platform staff; `Denied` for everyone else.

    `given`: the person's roles among the staff, where they have just been read.
    """
    permissions = platform_permissions(user, given)
    if not permissions:
        raise Denied(Permission.PLATFORM_OVERVIEW)
    return Actor(
        user_id=user.pk,
        label=user.display_name,
        organisation_id=None,
        permissions=permissions,
        platform=True,
        channel=channel,
        address=address,
    )


def personal_actor(
    user: User, *, channel: Channel = Channel.WEB, address: str | None = None, mine: list[Membership] | None = None
) -> Actor:
    """The person acting on their own account: in their organisation if they have one, without any right needed.

    `mine`: the person's memberships, where they have just been read.
    """
    membership = current_membership(user) if mine is None else pick_current(mine, user)
    return Actor(
        user_id=user.pk,
        label=user.display_name,
        organisation_id=membership.organisation_id if membership else None,
        permissions=frozenset(),
        channel=channel,
        address=address,
    )
