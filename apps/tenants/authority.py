"""Who may manage an organisation's people: the permission, and the rank against that of the person changed."""

from uuid import UUID

from django.utils.translation import gettext_lazy as _

from apps.common.actor import Actor
from apps.common.errors import Conflict, Invalid, NotFound
from apps.common.permissions import Permission
from apps.tenants.choices import Role
from apps.tenants.models import Department, Membership, OrganisationRole
from apps.tenants.roles import ORGANISATION_ROLES, RANKS, STAFF_RANK, organisation_names


def organisation_for(
    actor: Actor, organisation_id: UUID | None = None, permission: Permission = Permission.MEMBERS_MANAGE
) -> UUID:
    """The organisation that the actor changes: their own with `permission`, any for staff who manage tenants.

    Raises `Denied`, and `NotFound` for another tenant's.
    """
    if actor.platform:
        actor.require(Permission.PLATFORM_TENANTS_MANAGE)
        if organisation_id is None:
            raise NotFound
        return organisation_id
    actor.require(permission)
    own = actor.organisation()
    if organisation_id not in (None, own):
        raise NotFound
    return own


def rank_of(actor: Actor, organisation_id: UUID) -> int:
    if actor.platform:
        return STAFF_RANK
    mine = Membership.objects.filter(organisation_id=organisation_id, user_id=actor.person())
    role = mine.values_list("role", flat=True).first()
    return RANKS[role] if role else 0


def require_above(actor: Actor, member: Membership) -> None:
    """Raise `Conflict` unless the actor stands above the member."""
    if rank_of(actor, member.organisation_id) <= RANKS[member.role]:
        raise Conflict(
            _("You can change only people of a lower rank than your own."),
            hint=_("The platform's administrators can change administrators."),
        )


def require_grantable(actor: Actor, organisation_id: UUID, role: Role, own_role: OrganisationRole | None) -> None:
    """Raise `Invalid` for a role above the actor's rank, or one that allows what the actor may not do."""
    if rank_of(actor, organisation_id) < RANKS[role]:
        raise Invalid.field("role", _("You cannot give a role above your own."))
    if actor.platform:
        return
    given = organisation_names(own_role.permissions) if own_role else ORGANISATION_ROLES[role]
    if not given <= actor.permissions:
        raise Invalid.field(
            "own_role" if own_role else "role", _("This role allows more than you may do: you cannot give it.")
        )


def department_in(organisation_id: UUID, department_id: UUID | None) -> Department | None:
    """Raises `Invalid` for a department that is not there (any more)."""
    if department_id is None:
        return None
    found: Department | None = Department.objects.filter(pk=department_id, organisation_id=organisation_id).first()
    if found is None:
        raise Invalid.field("department", _("This department does not exist any more."))
    return found


def own_role_in(organisation_id: UUID, role_id: UUID | None) -> OrganisationRole | None:
    if role_id is None:
        return None
    found: OrganisationRole | None = OrganisationRole.objects.filter(
        pk=role_id, organisation_id=organisation_id
    ).first()
    if found is None:
        raise Invalid.field("own_role", _("This role does not exist any more."))
    return found
