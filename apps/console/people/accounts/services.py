"""What staff do to other people's accounts, of which the log tells their people, and adding staff."""

from typing import Any

from django.db import transaction
from django.db.models import Q
from django.utils.translation import gettext_lazy as _

from apps.common.actor import Actor
from apps.common.errors import Invalid
from apps.common.permissions import Permission
from apps.tenants import services as tenants
from apps.tenants import sessions
from apps.tenants.models import User
from apps.tenants.services import Person, accounts


def reset_password(actor: Actor, *, user_id: int) -> str:
    """A generated password, returned once; the person is signed out everywhere."""
    with transaction.atomic():
        password = accounts.reset_password(actor, user_id=user_id)
        sessions.end_all_of(actor, user_id=user_id)
    return password


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
