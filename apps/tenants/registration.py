"""Who may register an account, and what a new person gets: settings, and the acts at registration."""

import re
from dataclasses import dataclass
from typing import ClassVar

from allauth.account.models import EmailAddress
from django.db import transaction
from django.http import HttpRequest
from django.utils.translation import gettext as _

from apps.common.actor import Actor, Channel
from apps.common.errors import Invalid, NotFound
from apps.common.permissions import Permission
from apps.common.scoping import acting
from apps.tenants import quotas, settings
from apps.tenants.choices import Resource, Role
from apps.tenants.models import Invitation, Membership, Organisation, User
from apps.tenants.services.invitations import find
from apps.tenants.services.members import add_member
from apps.tenants.services.organisations import create_organisation

_DOMAIN = re.compile(r"(?=.{4,253}$)([a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?\.)+[a-z]{2,63}", re.ASCII)
NAME_MAX = 80
_CARRIED = "invitation"


@dataclass(frozen=True, slots=True)
class RegistrationSettings:
    """Whether anybody may register, and what they get. Limits in the units of quota; None: unlimited.

    `domains`: only addresses of these, which then have to be proven; empty allows any. With `own_organisation` each
    new person administers an organisation of their own; without, they wait for an invitation.
    """

    KEY: ClassVar[str] = "registration"

    open: bool = False
    own_organisation: bool = True
    verify_email: bool = False
    domains: tuple[str, ...] = ()
    cpu_milli: int | None = 4000
    memory_mib: int | None = 16 * 1024
    gpu_milli: int | None = 0
    runs: int | None = 2
    environments: int | None = 2
    storage_mib: int | None = 20 * 1024
    volumes: int | None = 5

    def validate(self) -> None:
        """Raises `Invalid` with the field at fault."""
        for domain in self.domains:
            if not _DOMAIN.fullmatch(domain):
                raise Invalid.field("domains", _("%(domain)s is not a domain.") % {"domain": domain})
        for resource, limit in self.limits().items():
            if limit is not None and not 0 <= limit <= quotas.LIMIT_MAX:
                raise Invalid.field(resource.value, _("A limit is a number of at least 0."))

    def limits(self) -> dict[Resource, int | None]:
        return {resource: getattr(self, resource.value) for resource in Resource}

    @property
    def proves_email(self) -> bool:
        """Whether addresses must be proven: always if they decide who may register, otherwise by the setting."""
        return self.verify_email or bool(self.domains)


def is_open(request: HttpRequest) -> bool:
    """Whether registration is open to everybody, or to this browser because it followed an invitation's link."""
    return settings.get(RegistrationSettings).open or remembered_invitation(request) is not None


def remember_invitation(request: HttpRequest, token: str) -> None:
    """Remember the invitation in the session during registration or sign-in."""
    request.session[_CARRIED] = token


def remembered_invitation(request: HttpRequest) -> Invitation | None:
    """The invitation whose link was followed, while it works."""
    token = request.session.get(_CARRIED)
    try:
        return find(token) if token else None
    except NotFound:
        return None


def forget_invitation(request: HttpRequest) -> None:
    request.session.pop(_CARRIED, None)


def check_email(request: HttpRequest, email: str) -> None:
    """Raise `Invalid` for an address that may not register; an invitation by e-mail is for its own alone."""
    given = email.strip().lower()
    invitation = remembered_invitation(request)
    if invitation is not None and invitation.email and given != invitation.email:
        raise Invalid.field("email", _("The invitation is for %(email)s.") % {"email": invitation.email})
    domains = settings.get(RegistrationSettings).domains
    if invitation is None and domains and given.rpartition("@")[2] not in domains:
        raise Invalid.field(
            "email",
            _("Only addresses of %(domains)s may register here.") % {"domains": ", ".join(domains)},
        )


def must_prove_email(user: User) -> bool:
    """Whether the person has to confirm an address before getting what registration gives."""
    if not settings.get(RegistrationSettings).proves_email:
        return False
    return not EmailAddress.objects.filter(user=user, email__iexact=user.email, verified=True).exists()


def waits_for_email(actor: Actor) -> bool:
    """Whether the person only has to confirm the address to get an organisation of their own."""
    wanted = settings.get(RegistrationSettings)
    return wanted.open and wanted.own_organisation and must_prove_email(User.objects.get(pk=actor.person()))


def after_registration(request: HttpRequest, user: User) -> None:
    """Steps right after registration; somebody who followed an invitation goes back to it and needs none."""
    if remembered_invitation(request) is not None:
        return
    address = EmailAddress.objects.filter(user=user, verified=False).first()
    if address is not None and must_prove_email(user):
        address.send_confirmation(request, signup=True)
    grant_own_organisation(user)


def grant_own_organisation(user: User) -> Organisation | None:
    """Give a new person the organisation of their own, once, and only when nothing is left to prove.

    Called after registration and after each confirmed address; None if there is nothing to give.
    """
    wanted = settings.get(RegistrationSettings)
    if not (wanted.open and wanted.own_organisation) or must_prove_email(user):
        return None
    platform = _acting_for(user)
    with acting(platform), transaction.atomic():
        User.objects.select_for_update().get(pk=user.pk)  # two confirmations at once make one organisation
        if Membership.objects.filter(user=user).exists():
            return None
        organisation = create_organisation(platform, name=_free_name(user))
        add_member(platform, organisation_id=organisation.pk, user=user, role=Role.ADMIN)
        for resource, limit in wanted.limits().items():
            if limit is not None:
                quotas.set_limit(platform, organisation_id=organisation.pk, resource=resource, limit=limit)
    return organisation


def _acting_for(user: User) -> Actor:
    """The platform as actor, with the person named in the log."""
    rights = frozenset({Permission.PLATFORM_TENANTS_MANAGE})
    return Actor(
        user_id=user.pk,
        label=user.display_name,
        organisation_id=None,
        permissions=rights,
        platform=True,
        channel=Channel.WEB,
    )


def _free_name(user: User) -> str:
    """The person's name as an organisation's; with the account's number where that is taken."""
    name = user.display_name[: NAME_MAX - 20]
    taken = Organisation.objects.filter(name__iexact=name).exists()
    return f"{name} {user.pk}" if taken else name
