"""Roles of an organisation's own making, from named permissions."""

from collections.abc import Iterable
from uuid import UUID

from django.db import IntegrityError, transaction
from django.utils.translation import gettext_lazy as _

from apps.audit.services import Target, record
from apps.common.actor import Actor
from apps.common.errors import Conflict, Invalid, NotFound
from apps.common.permissions import Permission
from apps.common.text import clean_name
from apps.tenants import quotas
from apps.tenants.authority import organisation_for
from apps.tenants.models import Invitation, Membership, OrganisationRole
from apps.tenants.roles import organisation_names, organisation_permissions

NAME_MAX = 60


def create_role(
    actor: Actor, *, name: str, permissions: Iterable[str], organisation_id: UUID | None = None
) -> OrganisationRole:
    """Raises `Invalid` for a name that is taken, an unknown permission, or one that the actor does not hold."""
    organisation_id = organisation_for(actor, organisation_id, Permission.ORGANISATION_MANAGE)
    role = OrganisationRole(organisation_id=organisation_id, name=_name(name), permissions=_allowed(actor, permissions))
    with transaction.atomic():
        _save(role)
        _log(actor, role, "created", {}, _audit_values(role))
    return role


def change_role(
    actor: Actor, *, role_id: UUID, name: str, permissions: Iterable[str], organisation_id: UUID | None = None
) -> OrganisationRole:
    """Change a role, from the next request on and for everybody who has it.

    Permissions that it already has may stay, even if the actor does not hold them.
    """
    organisation_id = organisation_for(actor, organisation_id, Permission.ORGANISATION_MANAGE)
    with transaction.atomic():
        role = _locked(organisation_id, role_id)
        _require_not_own_role(actor, role)
        before = _audit_values(role)
        role.name, role.permissions = _name(name), _allowed(actor, permissions, had=role.permissions)
        _save(role)
        if _audit_values(role) != before:
            _log(actor, role, "changed", before, _audit_values(role))
    return role


def delete_role(actor: Actor, *, role_id: UUID, organisation_id: UUID | None = None) -> None:
    """Raises `Conflict` while members have it or an open invitation gives it."""
    organisation_id = organisation_for(actor, organisation_id, Permission.ORGANISATION_MANAGE)
    with transaction.atomic():
        role = _locked(organisation_id, role_id)
        if Membership.objects.filter(own_role=role).exists():
            raise Conflict(_("Members have this role."), hint=_("Give them another one first."))
        if Invitation.objects.filter(own_role=role, revoked_at__isnull=True).exists():
            raise Conflict(_("An invitation gives this role."), hint=_("Revoke it first."))
        _log(actor, role, "deleted", _audit_values(role), {})
        role.delete()


def _require_not_own_role(actor: Actor, role: OrganisationRole) -> None:
    if not actor.platform and Membership.objects.filter(own_role=role, user_id=actor.person()).exists():
        raise Conflict(_("This is your own role."), hint=_("Somebody else who manages roles can change it."))


def _allowed(actor: Actor, permissions: Iterable[str], had: Iterable[str] = ()) -> list[str]:
    """The permissions in a fixed order."""
    wanted = set(permissions)
    if wanted - organisation_permissions():
        raise Invalid.field("permissions", _("There is no such permission."))
    if not actor.platform and wanted - actor.permissions - organisation_names(had):
        raise Invalid.field("permissions", _("A role cannot allow what you may not do yourself."))
    if not wanted:
        raise Invalid.field("permissions", _("Choose at least one permission."))
    return [permission.value for permission in Permission.every() if permission in wanted]


def _locked(organisation_id: UUID, role_id: UUID) -> OrganisationRole:
    """Under the organisation's lock: nobody is given a role while it is deleted."""
    quotas.lock(organisation_id)
    found: OrganisationRole | None = (
        OrganisationRole.objects.select_for_update().filter(pk=role_id, organisation_id=organisation_id).first()
    )
    if found is None:
        raise NotFound
    return found


def _name(name: str) -> str:
    cleaned = clean_name(name)
    if not 1 <= len(cleaned) <= NAME_MAX:
        raise Invalid.field("name", _("A name has 1 to 60 characters."))
    return cleaned


def _save(role: OrganisationRole) -> None:
    try:
        with transaction.atomic():
            role.save()
    except IntegrityError as error:
        raise Invalid.field("name", _("There is a role of this name already.")) from error


def _audit_values(role: OrganisationRole) -> dict[str, str]:
    return {"name": role.name, "permissions": ", ".join(role.permissions)}


def _log(actor: Actor, role: OrganisationRole, verb: str, before: dict[str, str], after: dict[str, str]) -> None:
    record(
        actor,
        action=f"role.{verb}",
        organisation_id=role.organisation_id,
        target=Target("role", str(role.pk), role.name),
        before=before,
        after=after,
    )
