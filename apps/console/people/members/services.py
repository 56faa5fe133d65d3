"""Adding people to an organisation, and giving them another place in it."""

from uuid import UUID

from django.db import transaction
from django.db.models import Q
from django.utils.translation import gettext_lazy as _

from apps.common.actor import Actor
from apps.common.errors import Invalid, NotFound
from apps.common.permissions import Permission
from apps.console.kit.places import notify_of_role
from apps.tenants import services as tenants
from apps.tenants.choices import Role
from apps.tenants.models import Membership, Organisation, User
from apps.tenants.services import Person
from apps.tenants.services.members import Place, change_member


def add_new_person(
    actor: Actor, *, organisation_id: UUID, person: Person, role: Role, priority: int
) -> tuple[User, str | None]:
    """An account that is a member from the start, and its generated password; all or nothing."""
    actor.require(Permission.PLATFORM_TENANTS_MANAGE)
    _must_exist(organisation_id)
    with transaction.atomic():
        user, password = tenants.create_user(actor, person=person)
        tenants.add_member(actor, organisation_id=organisation_id, user=user, role=role, priority=priority)
    return user, password


def add_existing_person(actor: Actor, *, organisation_id: UUID, name: str, role: Role, priority: int) -> User:
    """Make the person with this user name or e-mail a member; `Invalid` where there is no such account."""
    actor.require(Permission.PLATFORM_TENANTS_MANAGE)
    _must_exist(organisation_id)
    wanted = name.strip()
    user = User.objects.filter(Q(username__iexact=wanted) | (Q(email__iexact=wanted) & ~Q(email=""))).first()
    if user is None:
        raise Invalid.field("username", _("There is no account with this user name or e-mail."))
    tenants.add_member(actor, organisation_id=organisation_id, user=user, role=role, priority=priority)
    return user


def change_place(actor: Actor, member: Membership, *, place: Place) -> Membership:
    """Give a member another role, department or priority, and tell them of another role."""
    organisation_id, user_id = member.organisation_id, member.user_id
    with transaction.atomic():
        changed = change_member(actor, user_id=user_id, place=place, organisation_id=organisation_id)
        notify_of_role(actor, member, changed)
    return changed


def _must_exist(organisation_id: UUID) -> None:
    if not Organisation.objects.filter(pk=organisation_id).exists():
        raise NotFound
