"""Gives each request its actors, built only when a view asks for one."""

from collections.abc import Callable
from http import HTTPStatus

from django.http import HttpRequest, HttpResponse

from apps.common.access import Realm
from apps.common.actor import Actor, Channel
from apps.common.errors import Denied
from apps.common.permissions import Permission
from apps.common.requests import address_of
from apps.tenants import actors, second_factor, sessions
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

    def admit(self, actor: Actor) -> None:
        """Raise `SecondFactorMissing` where the actor's rights ask for more proof than there is."""
        second_factor.admit(actor)


class ActorMiddleware:
    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        request.actors = RequestActors(request)  # type: ignore[attr-defined]
        return self.get_response(request)


class TriesLimited:
    """A form that a try was refused in says so to programs as well: 429, and when to come again."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        response = self.get_response(request)
        if wait_s := getattr(request, "wait_s", 0):
            response.status_code = HTTPStatus.TOO_MANY_REQUESTS
            response.headers["Retry-After"] = str(wait_s)
        return response


class SessionSeen:
    """Keeps when and from where each session was used last, for the person's own list of them."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        response = self.get_response(request)
        if request.session.session_key and request.user.is_authenticated:
            sessions.note_use(request)
        return response
