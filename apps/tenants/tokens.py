"""API tokens: create (shown once), revoke, and turn into an actor with no more rights than its person has now."""

import hashlib
import secrets
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from enum import StrEnum
from uuid import UUID

from django.db import transaction
from django.db.models import Q, QuerySet
from django.db.models.functions import Now
from django.utils.translation import gettext_lazy as _

from apps.audit.services import Target, record
from apps.common.actor import Actor, Channel
from apps.common.clock import db_now
from apps.common.errors import Conflict, Denied, Invalid, NotFound
from apps.common.permissions import Permission
from apps.common.text import clean_name
from apps.tenants.actors import memberships, organisation_actor, personal_actor, platform_actor
from apps.tenants.choices import OrganisationStatus
from apps.tenants.models import ApiToken, User

MARK = "pls_"  # so that scanners of source code recognise a token that leaked
PREFIX_CHARS = 12
SECRET_BYTES = 32
MAX_TOKENS = 50
USED_AT_MOST_EVERY = timedelta(minutes=1)


class Lifetime(StrEnum):
    """After how many days a token ends by itself."""

    MONTH = "30"
    QUARTER = "90"
    YEAR = "365"
    NEVER = "never"


class Refusal(StrEnum):
    """Why a token lets nobody in."""

    UNKNOWN = "unknown"
    REVOKED = "revoked"
    EXPIRED = "expired"
    DISABLED = "disabled"  # the account
    FROZEN = "frozen"  # the organisation
    LEFT = "left"  # no member, or no staff, any more


class TokenRefused(Exception):
    def __init__(self, why: Refusal) -> None:
        super().__init__(why.value)
        self.why = why


@dataclass(frozen=True, slots=True)
class TokenDraft:
    """A token to make. `organisation_id` None: for the console."""

    name: str
    organisation_id: UUID | None
    permissions: frozenset[Permission]
    lifetime: Lifetime


def own_tokens(actor: Actor) -> QuerySet[ApiToken]:
    """The actor's own tokens, ended ones too, newest first."""
    return ApiToken.objects.filter(user_id=actor.person()).select_related("organisation")


def live_tokens(tokens: QuerySet[ApiToken]) -> QuerySet[ApiToken]:
    return tokens.filter(Q(expires_at__isnull=True) | Q(expires_at__gt=Now()), revoked_at__isnull=True)


def grantable(user: User, organisation_id: UUID | None) -> frozenset[Permission]:
    """The most that a token for this organisation (None: the console) may hold: what its person holds now."""
    try:
        return (organisation_actor(user, organisation_id) if organisation_id else platform_actor(user)).permissions
    except Denied:
        return frozenset()


def create(actor: Actor, *, draft: TokenDraft) -> tuple[ApiToken, str]:
    """A token and its secret, which is returned only here. Raises `Invalid` with the field, `Conflict`."""
    user = User.objects.get(pk=actor.person())
    name = clean_name(draft.name)
    if not 1 <= len(name) <= 60:
        raise Invalid.field("name", _("A name has 1 to 60 characters."))
    if not draft.permissions:
        raise Invalid.field("permissions", _("Choose at least one thing that the token may do."))
    if not draft.permissions <= grantable(user, draft.organisation_id):
        raise Invalid.field("permissions", _("A token cannot do more than you can."))
    if live_tokens(own_tokens(actor)).count() >= MAX_TOKENS:
        raise Conflict(_("You have %(count)s tokens already. Revoke one first.") % {"count": MAX_TOKENS})
    secret = MARK + secrets.token_urlsafe(SECRET_BYTES)
    with transaction.atomic():
        token = ApiToken.objects.create(
            user=user,
            organisation_id=draft.organisation_id,
            name=name,
            prefix=secret[:PREFIX_CHARS],
            digest=digest_of(secret),
            permissions=sorted(draft.permissions),
            expires_at=_expiry(draft.lifetime),
        )
        _log(actor, token, "api_token.created", after=_audit_values(token))
    token.refresh_from_db()
    return token, secret


def revoke(actor: Actor, *, token_id: UUID) -> ApiToken:
    """End one of the actor's tokens at once; one that has already ended is left unchanged."""
    with transaction.atomic():
        token = own_tokens(actor).select_for_update(of=("self",)).filter(pk=token_id).first()
        if token is None:
            raise NotFound
        if token.revoked_at is None:
            token.revoked_at = db_now()
            token.save(update_fields=["revoked_at"])
            _log(actor, token, "api_token.revoked", before=_audit_values(token))
    return token


def token_by_secret(secret: str) -> ApiToken:
    """The live token with this secret, its person and organisation loaded; raises `TokenRefused`."""
    return _live(digest=digest_of(secret))


def reload_token(token_id: UUID) -> ApiToken:
    """The present state of a token that was found before; raises `TokenRefused`."""
    return _live(pk=token_id)


def _live(**which: object) -> ApiToken:
    found: ApiToken | None = ApiToken.objects.select_related("user", "organisation").filter(**which).first()
    if found is None:
        raise TokenRefused(Refusal.UNKNOWN)
    if found.revoked_at is not None:
        raise TokenRefused(Refusal.REVOKED)
    if found.expires_at is not None and found.expires_at <= db_now():
        raise TokenRefused(Refusal.EXPIRED)
    if not found.user.is_active:
        raise TokenRefused(Refusal.DISABLED)
    if found.organisation is not None and found.organisation.status != OrganisationStatus.ACTIVE:
        raise TokenRefused(Refusal.FROZEN)
    if not _still_belongs(found):
        raise TokenRefused(Refusal.LEFT)
    return found


def _still_belongs(token: ApiToken) -> bool:
    if token.organisation_id is None:
        return bool(grantable(token.user, None))
    return any(each.organisation_id == token.organisation_id for each in memberships(token.user))


def note_use(token: ApiToken) -> None:
    """Record that the token was used, at most once a minute."""
    stale = Q(last_used_at__isnull=True) | Q(last_used_at__lt=Now() - USED_AT_MOST_EVERY)
    ApiToken.objects.filter(stale, pk=token.pk).update(last_used_at=Now())


def organisation_actor_of(token: ApiToken, address: str | None) -> Actor:
    """The token's person in its organisation, with the rights that both have; `Denied` for a token of the console."""
    if token.organisation_id is None:
        raise Denied(Permission.ORGANISATION_VIEW)
    return _narrowed(token, organisation_actor(token.user, token.organisation_id, channel=Channel.API, address=address))


def platform_actor_of(token: ApiToken, address: str | None) -> Actor:
    """The token's person in the console; `Denied` for a token of an organisation."""
    if token.organisation_id is not None:
        raise Denied(Permission.PLATFORM_OVERVIEW)
    return _narrowed(token, platform_actor(token.user, channel=Channel.API, address=address))


def personal_actor_of(token: ApiToken, address: str | None) -> Actor:
    """The token's person acting on their own account, in the token's organisation, whichever they work in now."""
    actor = personal_actor(token.user, channel=Channel.API, address=address)
    return replace(actor, organisation_id=token.organisation_id)


def _narrowed(token: ApiToken, actor: Actor) -> Actor:
    return replace(actor, permissions=actor.permissions & frozenset(token.permissions))


def digest_of(secret: str) -> str:
    """SHA-256 is enough: a secret of 256 random bits cannot be guessed, however fast the hash is."""
    return hashlib.sha256(secret.encode()).hexdigest()


def _expiry(lifetime: Lifetime) -> datetime | None:
    return None if lifetime is Lifetime.NEVER else db_now() + timedelta(days=int(lifetime))


def _audit_values(token: ApiToken) -> dict[str, object]:
    return {
        "prefix": token.prefix,
        "permissions": token.permissions,
        "expires_at": token.expires_at.isoformat() if token.expires_at else None,
    }


def _log(actor: Actor, token: ApiToken, action: str, **change: dict[str, object]) -> None:
    target = Target("api_token", str(token.pk), token.name)
    record(actor, action=action, organisation_id=token.organisation_id, target=target, **change)
