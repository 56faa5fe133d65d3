"""Gives each request its actors, built only when a view asks for one."""

from collections.abc import Callable

from django.http import HttpRequest, HttpResponse

from apps.common.access import Realm
from apps.common.actor import Actor, Channel
from apps.common.errors import Denied
from apps.common.permissions import Permission
from apps.tenants import actors
from apps.tenants.models import User

BUILDERS: dict[Realm, Callable[..., Actor]] = {
    Realm.ORGANISATION: actors.organisation_actor,
    Realm.PLATFORM: actors.platform_actor,
    Realm.SELF: actors.personal_actor,
}


class RequestActors:
    """Actors of one request by realm."""

    def __init__(self, request: HttpRequest) -> None:
        self.request = request
        self.built: dict[Realm, Actor] = {}

    def get(self, realm: Realm) -> Actor:
        if realm not in self.built:
            user = self.request.user
            if not isinstance(user, User):
                raise Denied(Permission.ORGANISATION_VIEW)
            channel = Channel.API if self.request.path.startswith("/api/") else Channel.WEB
            self.built[realm] = BUILDERS[realm](user, channel=channel, address=address_of(self.request))
        return self.built[realm]


def address_of(request: HttpRequest) -> str | None:
    """The client's address; forwarded headers count only where the operator's proxy sets them."""
    return request.META.get("REMOTE_ADDR") or None


class ActorMiddleware:
    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        request.actors = RequestActors(request)  # type: ignore[attr-defined]
        return self.get_response(request)
