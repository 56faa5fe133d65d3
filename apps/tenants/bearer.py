"""DRF's authentication by `Authorization: Bearer pls_…`. Apart from `api`: DRF loads it before any view."""

from collections.abc import Callable
from typing import Any

from django.http import HttpRequest
from django.utils.translation import gettext_lazy as _
from drf_spectacular.extensions import OpenApiAuthenticationExtension
from rest_framework.authentication import BaseAuthentication
from rest_framework.exceptions import AuthenticationFailed
from rest_framework.request import Request

from apps.common.access import Realm
from apps.common.actor import Actor
from apps.common.errors import SignedOut
from apps.common.requests import address_of
from apps.tenants import second_factor, tokens
from apps.tenants.models import ApiToken, User

BUILDERS: dict[Realm, Callable[[ApiToken, str | None], Actor]] = {
    Realm.ORGANISATION: tokens.organisation_actor_of,
    Realm.PLATFORM: tokens.platform_actor_of,
    Realm.SELF: tokens.personal_actor_of,
}
WORDS = {
    tokens.Refusal.UNKNOWN: _("This token does not exist."),
    tokens.Refusal.REVOKED: _("This token was revoked."),
    tokens.Refusal.EXPIRED: _("This token has expired."),
    tokens.Refusal.DISABLED: _("The account of this token is disabled."),
    tokens.Refusal.FROZEN: _("The organisation of this token is frozen."),
    tokens.Refusal.LEFT: _("The person of this token no longer belongs to its organisation."),
}


class TokenActors:
    """Actors of a request with a token, by realm; the counterpart of `SessionActors`."""

    def __init__(self, token: ApiToken, address: str | None) -> None:
        self.token, self.address = token, address

    def get(self, realm: Realm) -> Actor:
        return BUILDERS[realm](self.token, self.address)

    def admit(self, actor: Actor) -> None:
        """A token needs no second factor of its own, but its person must have the one that their role asks for."""
        second_factor.admit(actor)

    def reloaded(self) -> "TokenActors":
        """The token's present state, for a download that it began; raises `SignedOut`."""
        try:
            return TokenActors(tokens.reload_token(self.token.pk), self.address)
        except tokens.TokenRefused as error:
            raise SignedOut from error


class BearerToken(BaseAuthentication):
    """Only the `Authorization` header counts: browsers do not send it by themselves, so no CSRF token is needed."""

    def authenticate(self, request: Request) -> tuple[User, ApiToken] | None:
        scheme, _space, secret = request.headers.get("Authorization", "").strip().partition(" ")
        if scheme.lower() != "bearer":
            return None
        try:
            token = tokens.token_by_secret(secret.strip())
        except tokens.TokenRefused as error:
            raise AuthenticationFailed(WORDS[error.why], code=error.why) from error
        tokens.note_use(token)
        plain: HttpRequest = request._request
        plain.api_token = token  # type: ignore[attr-defined]
        plain.actors = TokenActors(token, address_of(plain))  # type: ignore[attr-defined]
        return token.user, token

    def authenticate_header(self, request: Request) -> str:
        sent = request.headers.get("Authorization", "").lower().startswith("bearer")
        return 'Bearer realm="PLStack", error="invalid_token"' if sent else 'Bearer realm="PLStack"'


class BearerTokenScheme(OpenApiAuthenticationExtension):  # type: ignore[no-untyped-call]
    """How the API's description names it."""

    target_class = BearerToken
    name = "token"

    def get_security_definition(self, auto_schema: Any) -> dict[str, str]:
        return {"type": "http", "scheme": "bearer", "bearerFormat": "pls_…"}
