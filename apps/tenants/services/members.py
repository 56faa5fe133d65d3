"""Who belongs to an organisation, and as what. Every change leaves an audit row."""

from uuid import UUID

from django.db import IntegrityError, transaction
from django.utils.translation import gettext_lazy as _

from apps.audit.services import Target, record
from apps.common.actor import Actor
from apps.common.errors import Conflict, Invalid
from apps.common.permissions import Permission
from apps.tenants.choices import Role
from apps.tenants.models import Membership, User


def add_member(
    actor: Actor, *, organisation_id: UUID, user: User, role: Role = Role.MEMBER, priority: int = 3
) -> Membership:
    """Make a person a member; `Conflict` where they are one already."""
    actor.require(Permission.PLATFORM_TENANTS_MANAGE)
    if not 1 <= priority <= 5:
        raise Invalid.field("priority", _("Priority is a number from 1 to 5."))
    try:
        with transaction.atomic():
            membership: Membership = Membership.objects.create(
                organisation_id=organisation_id, user=user, role=role, priority=priority
            )
            record(
                actor,
                action="member.added",
                organisation_id=organisation_id,
                target=Target("user", str(user.pk), user.username),
                after={"role": role.value, "priority": priority},
            )
    except IntegrityError as error:
        raise Conflict(_("This person is a member already.")) from error
    return membership
