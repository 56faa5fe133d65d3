"""What staff do to other people's accounts: disable, enable, give a new password."""

import secrets

from django.db import transaction
from django.utils.translation import gettext_lazy as _

from apps.audit.services import Target, record
from apps.common.actor import Actor
from apps.common.errors import Conflict, NotFound
from apps.common.live import hurry_rights_on_commit
from apps.common.permissions import Permission
from apps.tenants import sign_in_limits as limits
from apps.tenants.actors import platform_permissions
from apps.tenants.choices import PlatformRole
from apps.tenants.models import PlatformAssignment, User


def set_active(actor: Actor, *, user_id: int, active: bool) -> User:
    """Disable an account: its sessions and tokens end at once, its work goes on. Or enable it again.

    Raises `Conflict` for one's own account, for staff who may do more than the actor, and for the last super admin.
    """
    with transaction.atomic():
        user = changeable(actor, user_id)
        if user.is_active == active:
            return user
        if not active:
            a_super_admin_must_stay(user)
        user.is_active = active
        user.save(update_fields=["is_active"])
        _log(actor, user, "enabled" if active else "disabled")
        hurry_rights_on_commit(user.pk)
    return user


def reset_password(actor: Actor, *, user_id: int) -> str:
    """A generated password, returned once; every session of the person ends with the former one."""
    with transaction.atomic():
        user = changeable(actor, user_id)
        password = secrets.token_urlsafe(12)
        user.set_password(password)
        limits.start_afresh(user)
        user.save(update_fields=["password"])
        _log(actor, user, "password_reset")
        hurry_rights_on_commit(user.pk)
    return password


def changeable(actor: Actor, user_id: int) -> User:
    """An ordinary account needs the right to manage tenants, one of the staff the right to manage roles."""
    user = User.objects.select_for_update().filter(pk=user_id).first()
    if user is None:
        raise NotFound
    staff = PlatformAssignment.objects.filter(user=user).exists()
    actor.require(Permission.PLATFORM_ROLES_MANAGE if staff else Permission.PLATFORM_TENANTS_MANAGE)
    if user.pk == actor.user_id:
        raise Conflict(_("This is your own account."), hint=_("Change it under Account, or ask another administrator."))
    require_no_more_than_oneself(actor, user)
    return user


def require_no_more_than_oneself(actor: Actor, user: User) -> None:
    """Raise `Conflict` for staff who may do what the actor may not: changing them would be a way to their rights."""
    if not platform_permissions(user) <= actor.permissions:
        raise Conflict(_("This person may do more than you: you cannot change their account or roles."))


def a_super_admin_must_stay(user: User) -> None:
    """Raise `Conflict` where `user` is the last super admin who can sign in. Locks them all, in one order."""
    rows = PlatformAssignment.objects.select_for_update(of=("self",)).filter(role=PlatformRole.SUPER)
    active = {row.user_id for row in rows.select_related("user").order_by("pk") if row.user.is_active}
    if active == {user.pk}:
        raise Conflict(_("This is the last super admin."), hint=_("Make somebody else one first."))


def _log(actor: Actor, user: User, verb: str) -> None:
    record(actor, action=f"user.{verb}", target=Target("user", str(user.pk), user.username))
