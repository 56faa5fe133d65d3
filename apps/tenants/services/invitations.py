"""Invitations: made, sent again, revoked, accepted. A token is 256 random bits; only its SHA-256 is kept."""

import hashlib
import secrets
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from datetime import timedelta
from typing import Any
from uuid import UUID

from allauth.account.models import EmailAddress
from django.core.exceptions import ValidationError
from django.core.validators import validate_email
from django.db import transaction
from django.utils.translation import gettext_lazy as _

from apps.audit.services import Target, record
from apps.common.actor import Actor
from apps.common.clock import db_now
from apps.common.errors import Conflict, Invalid, NotFound
from apps.common.permissions import Permission
from apps.common.scoping import acting
from apps.tenants import quotas, tree
from apps.tenants.actors import platform_permissions
from apps.tenants.authority import department_in, organisation_for, own_role_in, require_grantable
from apps.tenants.choices import OrganisationStatus, Role
from apps.tenants.models import Invitation, Membership, User
from apps.tenants.roles import permissions_of
from apps.tenants.services.members import Place, join

MAX_USES = 1000
MAX_DAYS = 90


@dataclass(frozen=True, slots=True)
class Offer:
    """What an invitation grants, how often and until when. With `email` it is only for the owner of that address."""

    place: Place = field(default_factory=Place)
    email: str = ""
    max_uses: int = 1
    days: int = 7


def invite(actor: Actor, *, offer: Offer, organisation_id: UUID | None = None) -> tuple[Invitation, str]:
    """An invitation and its token, which is nowhere else. Raises `Invalid` with the field at fault."""
    organisation_id = organisation_for(actor, organisation_id)
    _check(offer)
    token = secrets.token_urlsafe(32)
    with transaction.atomic():
        quotas.lock(organisation_id)
        place = offer.place
        require_grantable(actor, organisation_id, place.role, own_role_in(organisation_id, place.own_role_id))
        department_in(organisation_id, place.department_id)
        invitation: Invitation = Invitation.objects.create(
            organisation_id=organisation_id,
            department_id=place.department_id,
            role=place.role,
            own_role_id=place.own_role_id,
            email=offer.email.strip().lower(),
            max_uses=offer.max_uses,
            digest=_digest(token),
            created_by_id=actor.person(),
            expires_at=db_now() + timedelta(days=offer.days),
        )
        _log(actor, invitation, "created", after=_audit_values(invitation))
    return invitation, token


def invite_all(actor: Actor, *, offers: Iterable[Offer]) -> list[tuple[Invitation, str]]:
    """Several invitations, all or none."""
    with transaction.atomic():
        return [invite(actor, offer=offer) for offer in offers]


def renew(
    actor: Actor, *, invitation_id: UUID, days: int = 7, organisation_id: UUID | None = None
) -> tuple[Invitation, str]:
    """A new token and term for an invitation that is not used up; its former link stops working."""
    organisation_id = organisation_for(actor, organisation_id)
    token = secrets.token_urlsafe(32)
    with transaction.atomic():
        invitation = _locked(pk=invitation_id, organisation_id=organisation_id)
        if invitation.revoked_at is not None or invitation.uses >= invitation.max_uses:
            raise Conflict(_("This invitation was used up or revoked."), hint=_("Make a new one."))
        require_grantable(actor, organisation_id, Role(invitation.role), invitation.own_role)
        invitation.digest, invitation.expires_at = _digest(token), db_now() + timedelta(days=days)
        invitation.created_by_id = actor.person()
        invitation.save(update_fields=["digest", "expires_at", "created_by"])
        _log(actor, invitation, "renewed", after=_audit_values(invitation))
    return invitation, token


def revoke(actor: Actor, *, invitation_id: UUID, organisation_id: UUID | None = None) -> None:
    """Revoke its link at once; members who joined by it stay. Revoking twice changes nothing."""
    organisation_id = organisation_for(actor, organisation_id)
    with transaction.atomic():
        invitation = _locked(pk=invitation_id, organisation_id=organisation_id)
        if invitation.revoked_at is None:
            invitation.revoked_at = db_now()
            invitation.save(update_fields=["revoked_at"])
            _log(actor, invitation, "revoked")


def find(token: str) -> Invitation:
    """The invitation of a link that works now. Raises `NotFound` for every other, whatever the reason.

    The token is the only credential, so it searches across organisations.
    """
    rows = Invitation.objects.with_scopes_disabled().select_related(
        "organisation", "department", "own_role", "created_by"
    )
    invitation: Invitation | None = rows.filter(digest=_digest(token)).first()
    if invitation is None or not _works(invitation):
        raise NotFound(_("This invitation does not work any more. Ask for a new one."))
    return invitation


def accept(actor: Actor, *, token: str) -> Membership:
    """Make the actor a member. Each acceptance consumes one use, also when several race for the last.

    Raises `NotFound` for a link that does not work, `Conflict` for a member and for somebody with another address than
    the one that was invited: a link by e-mail proves its address, no other.
    """
    found = find(token)
    # From here on the actor is a member to be, so the organisation's rows are in scope.
    actor = replace(actor, organisation_id=found.organisation_id, department_id=None)
    with acting(actor), transaction.atomic():
        quotas.lock(found.organisation_id)
        invitation = _locked(pk=found.pk, digest=_digest(token))
        if not _works(invitation):
            raise NotFound(_("This invitation does not work any more. Ask for a new one."))
        user = User.objects.get(pk=actor.person())
        _prove_address(invitation, user)
        membership = join(actor, organisation_id=invitation.organisation_id, user=user, place=_place(invitation))
        invitation.uses += 1
        invitation.save(update_fields=["uses"])
        User.objects.filter(pk=user.pk).update(current_organisation_id=invitation.organisation_id)
        _log(actor, invitation, "accepted", after={"uses": invitation.uses})
    return membership


def _works(invitation: Invitation) -> bool:
    return (
        invitation.revoked_at is None
        and invitation.uses < invitation.max_uses
        and invitation.expires_at > db_now()
        and invitation.organisation.status == OrganisationStatus.ACTIVE
        and _inviter_still_may(invitation)
    )


def _inviter_still_may(invitation: Invitation) -> bool:
    """Invitations of people who were removed or lost the right do not work."""
    inviter = invitation.created_by
    if not inviter.is_active:
        return False
    members = Membership.objects.with_scopes_disabled().select_related("own_role")
    member = members.filter(organisation_id=invitation.organisation_id, user=inviter).first()
    if member is not None and Permission.MEMBERS_MANAGE in permissions_of(member):
        return True
    return Permission.PLATFORM_TENANTS_MANAGE in platform_permissions(inviter)


def _prove_address(invitation: Invitation, user: User) -> None:
    """An invitation by e-mail reaches only its address: having its token proves that address for the account."""
    if not invitation.email:
        return
    own = EmailAddress.objects.filter(user=user, email__iexact=invitation.email, verified=True).exists()
    if not own and user.email.lower() != invitation.email:
        raise Conflict(
            _("This invitation is for %(email)s.") % {"email": invitation.email},
            hint=_("Sign in with the account of that address, or register with it."),
        )
    if not own:
        address, _made = EmailAddress.objects.get_or_create(
            user=user, email=invitation.email, defaults={"primary": False}
        )
        address.verified = True
        address.set_as_primary(conditional=True)
        address.save()


def _place(invitation: Invitation) -> Place:
    return Place(role=Role(invitation.role), own_role_id=invitation.own_role_id, department_id=invitation.department_id)


def _check(offer: Offer) -> None:
    if not 1 <= offer.max_uses <= MAX_USES:
        raise Invalid.field("max_uses", _("An invitation can be used 1 to 1000 times."))
    if not 1 <= offer.days <= MAX_DAYS:
        raise Invalid.field("days", _("An invitation works for 1 to 90 days."))
    if offer.email:
        try:
            validate_email(offer.email.strip())
        except ValidationError as error:
            raise Invalid.field("email", _("This is not an e-mail address.")) from error
        if offer.max_uses != 1:
            raise Invalid.field("max_uses", _("An invitation by e-mail is for one person."))


def _digest(token: str) -> str:
    return hashlib.sha256(token.encode()).hexdigest()


def _locked(**which: Any) -> Invitation:
    rows = Invitation.objects.with_scopes_disabled().select_for_update(of=("self",))
    found: Invitation | None = rows.select_related("organisation", "own_role", "created_by").filter(**which).first()
    if found is None:
        raise NotFound
    return found


def _audit_values(invitation: Invitation) -> dict[str, Any]:
    words: dict[str, Any] = {"role": str(invitation.role), "uses": invitation.max_uses}
    if invitation.own_role is not None:
        words["own_role"] = invitation.own_role.name
    if invitation.department_id is not None:
        words["department"] = tree.paths([invitation.department_id]).get(invitation.department_id, "")
    return words | {"expires": invitation.expires_at.isoformat()}


def _log(actor: Actor, invitation: Invitation, verb: str, *, after: dict[str, Any] | None = None) -> None:
    label = invitation.email or str(invitation.pk)[:8]
    record(
        actor,
        action=f"invitation.{verb}",
        organisation_id=invitation.organisation_id,
        target=Target("invitation", str(invitation.pk), label),
        after=after,
    )
