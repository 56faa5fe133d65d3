"""What staff do to other people's accounts, with the notice to whom it happened, and making somebody staff."""

from typing import Any

from django.db import transaction
from django.db.models import Q
from django.utils.translation import gettext_lazy as _

from apps.common.actor import Actor
from apps.common.errors import Invalid
from apps.common.permissions import Permission
from apps.notifications.services.notify import notify_user
from apps.tenants import second_factor, sessions
from apps.tenants import services as tenants
from apps.tenants.actors import current_membership
from apps.tenants.models import User
from apps.tenants.services import Person, accounts


def reset_second_factor(actor: Actor, *, user_id: int) -> User:
    """Take the second factor of somebody who lost it; they are told who did it. Errors as of `second_factor.reset`."""
    with transaction.atomic():
        user = second_factor.reset(actor, user_id=user_id)
        _tell(actor, user, "security.second_factor_reset")
    return user


def reset_password(actor: Actor, *, user_id: int) -> str:
    """A generated password, returned once; the person is told and signed out everywhere."""
    with transaction.atomic():
        password = accounts.reset_password(actor, user_id=user_id)
        sessions.end_all_of(actor, user_id=user_id)
        _tell(actor, User.objects.get(pk=user_id), "security.password_reset")
    return password


def _tell(actor: Actor, user: User, kind: str) -> None:
    """Notices belong to an organisation; of people without one only the operation log speaks."""
    membership = current_membership(user)
    if membership is not None:
        notify_user(organisation_id=membership.organisation_id, user_id=user.pk, kind=kind, data={"by": actor.label})


def add_new(actor: Actor, *, person: Person, role: dict[str, Any]) -> tuple[User, str | None]:
    """An account that has a role from the start, and its generated password; all or nothing."""
    actor.require(Permission.PLATFORM_ROLES_MANAGE)
    with transaction.atomic():
        user, password = tenants.create_user(actor, person=person)
        tenants.assign_platform_role(actor, user=user, **role)
    return user, password


def add_existing(actor: Actor, *, name: str, role: dict[str, Any]) -> User:
    """Give a role to the person with this user name or e-mail; `Invalid` where there is no such account."""
    actor.require(Permission.PLATFORM_ROLES_MANAGE)
    wanted = name.strip()
    user = User.objects.filter(Q(username__iexact=wanted) | (Q(email__iexact=wanted) & ~Q(email=""))).first()
    if user is None:
        raise Invalid.field("username", _("There is no account with this user name or e-mail."))
    tenants.assign_platform_role(actor, user=user, **role)
    return user
