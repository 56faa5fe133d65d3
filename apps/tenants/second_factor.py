"""The second factor: who has to have one, who has one, and its removal by an administrator."""

from collections.abc import Collection
from dataclasses import dataclass
from enum import StrEnum
from functools import cached_property
from http import HTTPStatus
from typing import ClassVar

from allauth.mfa.models import Authenticator
from django.conf import settings as django_settings
from django.db import transaction
from django.utils.translation import gettext_lazy as _

from apps.audit.services import Target, record
from apps.common.actor import Actor
from apps.common.errors import Conflict, DomainError
from apps.common.permissions import Permission
from apps.tenants import settings
from apps.tenants.actors import memberships, organisation_actor, platform_permissions
from apps.tenants.models import User
from apps.tenants.services.accounts import changeable


class Rule(StrEnum):
    AUTOMATIC = "automatic"  # on where the site can be reached from other machines
    ON = "on"
    OFF = "off"


@dataclass(frozen=True, slots=True)
class SecuritySettings:
    """Whether people of rank need a second factor."""

    KEY: ClassVar[str] = "security"

    second_factor: Rule = Rule.AUTOMATIC


class SecondFactorMissing(DomainError):
    """The role asks for a second factor that the person has not set up. Pages lead there."""

    code = "second_factor_required"
    status = HTTPStatus.FORBIDDEN
    leads_to = "account:security"

    def __init__(self) -> None:
        super().__init__(
            _("Your role needs a second factor."),
            hint=_("Set it up under Account, Security; then go on."),
        )


def is_enforced() -> bool:
    """Whether the installation requires second factors at all."""
    rule = settings.get(SecuritySettings).second_factor
    return bool(django_settings.SECOND_FACTOR_BY_DEFAULT) if rule is Rule.AUTOMATIC else rule is Rule.ON


def is_sensitive(permissions: frozenset[Permission]) -> bool:
    """The platform's staff, and whoever sees all of an organisation's money: its administrators and finance people."""
    return Permission.BILLING_VIEW in permissions or any(name.startswith("platform.") for name in permissions)


def has_second_factor(user_id: int) -> bool:
    return bool(Authenticator.objects.filter(user_id=user_id, type=Authenticator.Type.TOTP).exists())


class Proofs:
    """Whether some people lack a second factor that the installation requires: asked once for all of them."""

    def __init__(self, user_ids: Collection[int]) -> None:
        self.user_ids = user_ids

    def lacks_one(self, user_id: int) -> bool:
        return self._is_enforced and user_id not in self._holders

    @cached_property
    def _is_enforced(self) -> bool:
        return is_enforced()

    @cached_property
    def _holders(self) -> set[int]:
        rows = Authenticator.objects.filter(user_id__in=self.user_ids, type=Authenticator.Type.TOTP)
        return set(rows.values_list("user_id", flat=True))


def admit(actor: Actor, proofs: Proofs | None = None) -> None:
    """Raise `SecondFactorMissing` for an actor whose rights need one; costs nothing for all others.

    `proofs`: where they are asked for together with those of other people.
    """
    if actor.user_id is None or not is_sensitive(actor.permissions):
        return
    if (proofs or Proofs([actor.user_id])).lacks_one(actor.user_id):
        raise SecondFactorMissing


def is_required_of(user: User) -> bool:
    """Whether any role of the person asks for one, wherever they work at the moment."""
    return is_enforced() and _holds_sensitive(user)


def _holds_sensitive(user: User) -> bool:
    if platform_permissions(user):
        return True
    return any(is_sensitive(organisation_actor(user, each.organisation_id).permissions) for each in memberships(user))


def reset(actor: Actor, *, user_id: int) -> User:
    """Remove the second factor and recovery codes of somebody who has lost both; they sign in by password alone.

    Raises `Conflict` for oneself, for people who may do more than the actor, and if there is nothing to reset.
    """
    with transaction.atomic():
        user = changeable(actor, user_id)
        removed, _kinds = Authenticator.objects.filter(user=user).delete()
        if not removed:
            raise Conflict(_("This account has no second factor."))
        record(actor, action="user.second_factor_reset", target=Target("user", str(user.pk), user.username))
    return user
