"""Gives each request its actors, built only when a view asks for one."""

from collections.abc import Callable
from http import HTTPStatus

from django.conf import settings
from django.http import HttpRequest, HttpResponse

from apps.common.access import Realm
from apps.common.actor import Actor, Channel
from apps.common.errors import Denied
from apps.common.middleware import is_api
from apps.common.permissions import Permission
from apps.common.requests import address_of
from apps.tenants import sessions
from apps.tenants.models import Membership, User
from apps.tenants.services.account import note_language
from apps.tenants.session_actors import SessionActors


class RequestActors:
    """Actors of one request by realm."""

    def __init__(self, request: HttpRequest) -> None:
        self.request = request
        self._actors: SessionActors | None = None

    def get(self, realm: Realm) -> Actor:
        return self._of_session().get(realm)

    def memberships(self) -> list[Membership]:
        """The memberships of which the actors are."""
        return self._of_session().memberships()

    def admit(self, actor: Actor) -> None:
        """Raise `PasswordGiven` or `SecondFactorMissing` while the person has to see to how they sign in."""
        self._of_session().admit(actor)

    def reloaded(self) -> SessionActors:
        """The person's present actors, also long after the view has returned; raises `SignedOut`."""
        return self._of_session().reloaded()

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
    """Turns the response of a form with a refused try into a 429 with Retry-After, for programs."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        response = self.get_response(request)
        if wait_s := getattr(request, "wait_s", 0):
            response.status_code = HTTPStatus.TOO_MANY_REQUESTS
            response.headers["Retry-After"] = str(wait_s)
        return response


class SessionSeen:
    """Records when and from where each session was last used, for the person's own list."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        response = self.get_response(request)
        if request.session.session_key and request.user.is_authenticated:
            sessions.note_use(request)
        return response


class LanguageSeen:
    """Remembers the language of the last page that a person opened, for mails; writes only when it changes."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        response = self.get_response(request)
        if request.session.session_key and isinstance(request.user, User) and _names_language(request):
            note_language(request.user, request.LANGUAGE_CODE)
        return response


def _names_language(request: HttpRequest) -> bool:
    """Whether a browser opened a page in a language that it asked for; a page's own fragments do not count."""
    named = settings.LANGUAGE_COOKIE_NAME in request.COOKIES or "Accept-Language" in request.headers
    return named and not is_api(request) and "HX-Request" not in request.headers
