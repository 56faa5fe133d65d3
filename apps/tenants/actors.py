"""From a signed-in person to an actor. Rights are read afresh for each request: a revoked role ends at once."""

from uuid import UUID

from django_scopes import scopes_disabled

from apps.common.actor import Actor, Channel
from apps.common.errors import Denied, NoMember
from apps.common.permissions import Permission
from apps.tenants.choices import OrganisationStatus, PlatformRole
from apps.tenants.models import Membership, PlatformAssignment, User
from apps.tenants.roles import PLATFORM_ROLES, permissions_of, platform_names


def memberships(user: User) -> list[Membership]:
    """Every organisation that the person belongs to, by name; frozen ones too, they may still be read."""
    with scopes_disabled():
        return list(
            Membership.objects.filter(user=user)
            .select_related("organisation", "department", "own_role")
            .order_by("organisation__name")
        )


def current_membership(user: User) -> Membership | None:
    """The membership that the person works in: the one chosen last, else the first."""
    return current_among(memberships(user), user)


def current_among(mine: list[Membership], user: User) -> Membership | None:
    """The same where the person's memberships have been read."""
    chosen = [m for m in mine if m.organisation_id == user.current_organisation_id]
    return next(iter(chosen or mine), None)


def organisation_actor(
    user: User, organisation_id: UUID | None = None, *, channel: Channel = Channel.WEB, address: str | None = None
) -> Actor:
    """The person acting in one organisation (their current one by default); `NoMember` where they are none."""
    if organisation_id is None:
        membership = current_membership(user)
    else:
        membership = next((m for m in memberships(user) if m.organisation_id == organisation_id), None)
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
    )


def platform_permissions(user: User) -> frozenset[Permission]:
    """What the person's roles among the platform's staff allow, base roles and defined ones together."""
    given = PlatformAssignment.objects.filter(user=user, user__is_active=True).select_related("defined")
    return frozenset().union(
        *(
            platform_names(each.defined.permissions) if each.defined else PLATFORM_ROLES[PlatformRole(each.role)]
            for each in given
        )
    )


def platform_actor(user: User, *, channel: Channel = Channel.WEB, address: str | None = None) -> Actor:
    """The person acting as platform staff; `Denied` for everyone else."""
    permissions = platform_permissions(user)
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


def personal_actor(user: User, *, channel: Channel = Channel.WEB, address: str | None = None) -> Actor:
    """The person about themselves: in their organisation where they have one, with no rights needed."""
    membership = current_membership(user)
    return Actor(
        user_id=user.pk,
        label=user.display_name,
        organisation_id=membership.organisation_id if membership else None,
        permissions=frozenset(),
        channel=channel,
        address=address,
    )
