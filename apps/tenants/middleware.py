"""Gives each request its actors, built only when a view asks for one."""

from collections.abc import Callable
from http import HTTPStatus

from django.http import HttpRequest, HttpResponse

from apps.common.access import Realm
from apps.common.actor import Actor, Channel
from apps.common.errors import Denied
from apps.common.permissions import Permission
from apps.common.requests import address_of
from apps.tenants import second_factor, sessions
from apps.tenants.models import User
from apps.tenants.session_actors import SessionActors


class RequestActors:
    """Actors of one request by realm."""

    def __init__(self, request: HttpRequest) -> None:
        self.request = request
        self._actors: SessionActors | None = None

    def get(self, realm: Realm) -> Actor:
        return self._of_session().get(realm)

    def admit(self, actor: Actor) -> None:
        """Raise `SecondFactorMissing` where the actor's rights ask for more proof than there is."""
        second_factor.admit(actor)

    def again(self) -> SessionActors:
        """The request's person as they are now, long after its view has returned; raises `SignedOut`."""
        return self._of_session().again()

    def _of_session(self) -> SessionActors:
        if self._actors is None:
            user = self.request.user
            if not isinstance(user, User):
                raise Denied(Permission.ORGANISATION_VIEW)
            channel = Channel.API if self.request.path.startswith("/api/") else Channel.WEB
            key = self.request.session.session_key or ""
            self._actors = SessionActors(user, key, channel=channel, address=address_of(self.request))
        return self._actors


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
