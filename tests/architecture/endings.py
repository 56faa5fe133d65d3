"""The ways in which a right ends, done to the rows as the services do them."""

from collections.abc import Callable
from dataclasses import dataclass

from django.contrib.sessions.models import Session
from django.db.models.functions import Now

from apps.tenants.choices import OrganisationStatus
from apps.tenants.models import (
    ApiToken,
    DefinedPlatformRole,
    Membership,
    Organisation,
    OrganisationRole,
    PlatformAssignment,
    User,
)
from tests.builders import unique


@dataclass(frozen=True, slots=True)
class Holder:
    """Who holds the right; `session_key` and `token` by whichever of them they came in."""

    user: User
    organisation: Organisation
    session_key: str = ""
    token: ApiToken | None = None


def removed(holder: Holder) -> None:
    """From the organisation, or from the platform's staff."""
    Membership.objects.filter(user=holder.user).delete()
    PlatformAssignment.objects.filter(user=holder.user).delete()


def role_lost(holder: Holder) -> None:
    """Still a member, or of the staff, with a role that allows none of it."""
    nothing = OrganisationRole.objects.create(organisation=holder.organisation, name=unique("nothing"), permissions=[])
    Membership.objects.filter(user=holder.user).update(own_role=nothing)
    other = DefinedPlatformRole.objects.create(name=unique("other"), permissions=["platform.prices.view"])
    PlatformAssignment.objects.filter(user=holder.user).update(role="", defined=other)


def disabled(holder: Holder) -> None:
    User.objects.filter(pk=holder.user.pk).update(is_active=False)


def signed_out(holder: Holder) -> None:
    """By themselves, or from elsewhere: the session's row is gone."""
    Session.objects.filter(session_key=holder.session_key).delete()


def session_expired(holder: Holder) -> None:
    Session.objects.filter(session_key=holder.session_key).update(expire_date=Now())


def password_changed(holder: Holder) -> None:
    """Django keeps the sessions' rows; what they prove is not true any more."""
    user = User.objects.get(pk=holder.user.pk)
    user.set_password(unique("another"))
    user.save(update_fields=["password"])


def token_revoked(holder: Holder) -> None:
    ApiToken.objects.filter(user=holder.user).update(revoked_at=Now())


def token_expired(holder: Holder) -> None:
    ApiToken.objects.filter(user=holder.user).update(expires_at=Now())


def frozen(holder: Holder) -> None:
    """The organisation. Its people may go on reading in the browser, with the permissions that only view."""
    Organisation.objects.filter(pk=holder.organisation.pk).update(status=OrganisationStatus.FROZEN)


Ending = Callable[[Holder], None]

OF_A_PERSON: tuple[Ending, ...] = (removed, role_lost, disabled)
OF_A_SESSION: tuple[Ending, ...] = (*OF_A_PERSON, signed_out, session_expired, password_changed)
OF_A_TOKEN: tuple[Ending, ...] = (*OF_A_PERSON, token_revoked, token_expired)
