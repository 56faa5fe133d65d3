"""The platform's staff: the roles that people have, and roles that were defined here."""

from collections.abc import Iterable
from uuid import UUID

from django.db import IntegrityError, transaction
from django.utils.translation import gettext_lazy as _

from apps.audit.services import Target, record
from apps.common.actor import Actor
from apps.common.errors import Conflict, Invalid, NotFound
from apps.common.live import recheck_rights_on_commit
from apps.common.permissions import Permission
from apps.common.text import clean_name
from apps.tenants.choices import PlatformRole
from apps.tenants.models import DefinedPlatformRole, PlatformAssignment, User
from apps.tenants.roles import PLATFORM_PERMISSIONS, PLATFORM_ROLES, platform_names
from apps.tenants.services.accounts import (
    require_no_more_than_oneself,
    require_not_erased,
    require_remaining_super_admin,
)

NAME_MAX = 60


def assign_platform_role(
    actor: Actor, *, user: User, role: PlatformRole | None = None, defined_id: UUID | None = None
) -> None:
    """Give a person a staff role, a base one or one defined here; repeating it changes nothing.

    Raises `Conflict` for a role that allows more than the actor may do.
    """
    actor.require(Permission.PLATFORM_ROLES_MANAGE)
    require_not_erased(user)
    with transaction.atomic():
        defined = _defined(defined_id) if defined_id else None
        given = platform_names(defined.permissions) if defined else PLATFORM_ROLES[role or PlatformRole.FINANCE]
        if role is None and defined is None:
            raise Invalid.field("role", _("Choose a role."))
        if not given <= actor.permissions:
            raise Conflict(_("This role allows more than you may do: you cannot give it."))
        _assignment, made = PlatformAssignment.objects.get_or_create(
            user=user, role="" if defined else role, defined=defined
        )
        if made:
            _log(actor, user, "assigned", after={"role": _name_of(role, defined)})


def withdraw_platform_role(actor: Actor, *, assignment_id: int) -> None:
    """Take a role from a person. Raises `Conflict` for the last super admin and for those who may do more."""
    actor.require(Permission.PLATFORM_ROLES_MANAGE)
    with transaction.atomic():
        found = PlatformAssignment.objects.select_related("user", "defined").filter(pk=assignment_id).first()
        if found is None:
            raise NotFound
        require_no_more_than_oneself(actor, found.user)
        if found.role == PlatformRole.SUPER:
            require_remaining_super_admin(found.user)
        _end(actor, found)


def end_platform_roles(actor: Actor, user: User) -> None:
    """Of an account that is being deleted."""
    for each in PlatformAssignment.objects.filter(user=user).select_related("user", "defined").order_by("pk"):
        _end(actor, each)


def _end(actor: Actor, found: PlatformAssignment) -> None:
    role = PlatformRole(found.role) if found.role else None
    _log(actor, found.user, "withdrawn", before={"role": _name_of(role, found.defined)})
    found.delete()
    recheck_rights_on_commit(found.user_id)


def define_platform_role(
    actor: Actor, *, name: str, permissions: Iterable[str], role_id: UUID | None = None
) -> DefinedPlatformRole:
    """Create a role, or change the one of `role_id`, effective from the next request of everybody who has it."""
    actor.require(Permission.PLATFORM_ROLES_MANAGE)
    with transaction.atomic():
        role = _defined(role_id) if role_id else DefinedPlatformRole()
        before = _audit_values(role) if role_id else {}
        role.name, role.permissions = _name(name), _allowed(actor, permissions)
        try:
            with transaction.atomic():
                role.save()
        except IntegrityError as error:
            raise Invalid.field("name", _("There is a role of this name already.")) from error
        if _audit_values(role) != before:
            _log_role(actor, role, "changed" if role_id else "created", before, _audit_values(role))
    return role


def delete_platform_role(actor: Actor, *, role_id: UUID) -> None:
    """Raises `Conflict` while somebody has it."""
    actor.require(Permission.PLATFORM_ROLES_MANAGE)
    with transaction.atomic():
        role = _defined(role_id)
        if role.assignments.exists():
            raise Conflict(_("Members of the staff have this role."), hint=_("Take it from them first."))
        _log_role(actor, role, "deleted", _audit_values(role), {})
        role.delete()


def _allowed(actor: Actor, permissions: Iterable[str]) -> list[str]:
    wanted = set(permissions)
    if not wanted:
        raise Invalid.field("permissions", _("Choose at least one permission."))
    if wanted - PLATFORM_PERMISSIONS:
        raise Invalid.field("permissions", _("There is no such permission."))
    if wanted - actor.permissions:
        raise Invalid.field("permissions", _("A role cannot allow what you may not do yourself."))
    return [permission.value for permission in Permission if permission in wanted]


def _defined(role_id: UUID) -> DefinedPlatformRole:
    role = DefinedPlatformRole.objects.select_for_update().filter(pk=role_id).first()
    if role is None:
        raise NotFound
    return role


def _name(name: str) -> str:
    cleaned = clean_name(name)
    if not 1 <= len(cleaned) <= NAME_MAX:
        raise Invalid.field("name", _("A name has 1 to 60 characters."))
    return cleaned


def _name_of(role: PlatformRole | None, defined: DefinedPlatformRole | None) -> str:
    return defined.name if defined else str(role)


def _audit_values(role: DefinedPlatformRole) -> dict[str, str]:
    return {"name": role.name, "permissions": ", ".join(role.permissions)}


def _log(
    actor: Actor, user: User, verb: str, *, before: dict[str, str] | None = None, after: dict[str, str] | None = None
) -> None:
    target = Target("user", str(user.pk), user.username)
    record(actor, action=f"platform_role.{verb}", target=target, before=before, after=after)


def _log_role(
    actor: Actor, role: DefinedPlatformRole, verb: str, before: dict[str, str], after: dict[str, str]
) -> None:
    target = Target("platform_role", str(role.pk), role.name)
    record(actor, action=f"platform_role.{verb}", target=target, before=before, after=after)
