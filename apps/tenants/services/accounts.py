"""What staff do to other people's accounts: disable, enable, correct, give a new password."""

import secrets

from django.db import transaction
from django.utils.translation import gettext_lazy as _

from apps.audit.services import Target, record
from apps.common.actor import Actor
from apps.common.errors import Conflict, NotFound
from apps.common.live import recheck_rights_on_commit
from apps.common.permissions import Permission
from apps.tenants import sign_in_limits as limits
from apps.tenants.actors import platform_permissions
from apps.tenants.choices import PlatformRole
from apps.tenants.models import AccountDeletion, PlatformAssignment, User
from apps.tenants.services.account import write_details


def set_active(actor: Actor, *, user_id: int, active: bool) -> User:
    """Disable an account, or enable it again. Its sessions and tokens end at once; running work goes on, queued work
    does not start.

    Raises `Conflict` for one's own account, for staff who may do more than the actor, for the last super admin, and to
    enable what is about to be deleted.
    """
    with transaction.atomic():
        user = changeable(actor, user_id)
        if active and AccountDeletion.objects.filter(user=user, withdrawn_at=None).exists():
            raise Conflict(_("This account is about to be deleted."), hint=_("Take the deletion back instead."))
        if user.is_active == active:
            return user
        if not active:
            require_remaining_super_admin(user)
        user.is_active = active
        user.save(update_fields=["is_active"])
        _log(actor, user, "enabled" if active else "disabled")
        recheck_rights_on_commit(user.pk)
    return user


def correct(actor: Actor, *, user_id: int, name: str, email: str) -> User:
    """Change the name and e-mail of somebody else's account; a new address is unconfirmed until they follow its link.

    Raises `Conflict` for one's own account and for staff who may do more than the actor, and `Invalid`.
    """
    with transaction.atomic():
        user = changeable(actor, user_id)
        return write_details(actor, user, name=name, email=email, language=user.language)


def reset_password(actor: Actor, *, user_id: int) -> str:
    """A generated password, returned once, which the person must replace; their sessions end with the former one."""
    with transaction.atomic():
        user = changeable(actor, user_id)
        password = secrets.token_urlsafe(12)
        user.set_password(password)
        user.password_given = True
        limits.reset_failures(user)
        user.save(update_fields=["password", "password_given"])
        _log(actor, user, "password_reset")
        recheck_rights_on_commit(user.pk)
    return password


def changeable(actor: Actor, user_id: int) -> User:
    """The account, if the actor may change it; a staff account needs the right to manage roles."""
    user = User.objects.select_for_update().filter(pk=user_id).first()
    if user is None:
        raise NotFound
    require_changeable(actor, user)
    return user


def require_changeable(actor: Actor, user: User) -> None:
    """Raise `Denied` or `Conflict` where `changeable` would."""
    require_not_erased(user)
    staff = PlatformAssignment.objects.filter(user=user).exists()
    actor.require(Permission.PLATFORM_ROLES_MANAGE if staff else Permission.PLATFORM_TENANTS_MANAGE)
    if user.pk == actor.user_id:
        raise Conflict(_("This is your own account."), hint=_("Change it under Account, or ask another administrator."))
    require_no_more_than_oneself(actor, user)


def require_not_erased(user: User) -> None:
    """Raise `Conflict` for an account of which only the books know."""
    if user.is_erased:
        raise Conflict(_("This account was deleted."))


def require_no_more_than_oneself(actor: Actor, user: User) -> None:
    """Raise `Conflict` for staff who may do more than the actor, who could otherwise take over their rights."""
    if not platform_permissions(user) <= actor.permissions:
        raise Conflict(_("This person may do more than you: you cannot change their account or roles."))


def require_remaining_super_admin(user: User) -> None:
    """Raise `Conflict` if `user` is the last super admin who can sign in. Locks all of them in a fixed order."""
    rows = PlatformAssignment.objects.select_for_update(of=("self",)).filter(role=PlatformRole.SUPER)
    active = {row.user_id for row in rows.select_related("user").order_by("pk") if row.user.is_active}
    if active == {user.pk}:
        raise Conflict(_("This is the last super admin."), hint=_("Make somebody else one first."))


def _log(actor: Actor, user: User, verb: str) -> None:
    record(actor, action=f"user.{verb}", target=Target("user", str(user.pk), user.username))
