"""DRF's authentication by the token of a run. Other tokens and sessions are left to the classes after it."""

from typing import Any

from django.utils.translation import gettext_lazy as _
from drf_spectacular.extensions import OpenApiAuthenticationExtension
from rest_framework.authentication import BaseAuthentication
from rest_framework.exceptions import AuthenticationFailed
from rest_framework.request import Request

from apps.common.access import Realm
from apps.common.actor import Actor
from apps.common.errors import Denied, SignedOut
from apps.common.permissions import Permission
from apps.tenants.models import User
from apps.tracking.run_tokens import PREFIX, RunGrant, grant_of


class RunActors:
    """The one actor of a program. It has none on the platform's side, and none of its person's account."""

    def __init__(self, grant: RunGrant, token: str) -> None:
        self.grant, self._token = grant, token

    def get(self, realm: Realm) -> Actor:
        if realm is not Realm.ORGANISATION:
            raise Denied(Permission.PLATFORM_OVERVIEW)
        return self.grant.actor

    def admit(self, actor: Actor) -> None:
        """A program has no second factor; its launch was admitted."""

    def reloaded(self) -> "RunActors":
        grant = grant_of(self._token)
        if grant is None:
            raise SignedOut
        return RunActors(grant, self._token)


class RunToken(BaseAuthentication):
    def authenticate(self, request: Request) -> tuple[User, RunGrant] | None:
        scheme, _space, secret = request.headers.get("Authorization", "").strip().partition(" ")
        token = secret.strip()
        if scheme.lower() != "bearer" or not token.startswith(PREFIX):
            return None
        grant = grant_of(token)
        if grant is None:
            raise AuthenticationFailed(_("The attempt of this token has ended."), code="ended")
        plain: Any = request._request
        plain.api_token, plain.actors = grant, RunActors(grant, token)
        return User.objects.get(pk=grant.actor.person()), grant

    def authenticate_header(self, request: Request) -> str:
        return 'Bearer realm="PLStack"'


class RunTokenScheme(OpenApiAuthenticationExtension):  # type: ignore[no-untyped-call]
    target_class = RunToken
    name = "run_token"

    def get_security_definition(self, auto_schema: Any) -> dict[str, str]:
        return {"type": "http", "scheme": "bearer", "bearerFormat": "plsrun_…"}
