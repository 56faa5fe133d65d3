"""Each view declares who may call it; a view that declares nothing is refused and fails the architecture test."""

from collections.abc import Callable
from contextlib import nullcontext
from dataclasses import dataclass
from enum import StrEnum
from functools import wraps
from typing import Any, Protocol
from urllib.parse import urlsplit, urlunsplit

from django.contrib.auth.views import redirect_to_login
from django.http import HttpRequest, HttpResponse, HttpResponseBase

from apps.common.actor import Actor
from apps.common.clock import one_moment
from apps.common.errors import Denied, InPersonOnly
from apps.common.permissions import Permission
from apps.common.scoping import acting


class Realm(StrEnum):
    """Whose rows a route is about."""

    PUBLIC = "public"  # anyone, no tenant data
    SELF = "self"  # a signed-in person, about themselves
    ORGANISATION = "organisation"
    PLATFORM = "platform"


@dataclass(frozen=True, slots=True)
class Access:
    """`in_person`: only for sessions; API tokens are refused, even for reading."""

    realm: Realm
    permission: Permission | None = None
    in_person: bool = False


PUBLIC = Access(Realm.PUBLIC)
SELF = Access(Realm.SELF)
IN_PERSON = Access(Realm.SELF, in_person=True)
SAFE_METHODS = {"GET", "HEAD", "OPTIONS"}
READING = {"GET", "HEAD"}


def in_organisation(permission: Permission) -> Access:
    return Access(Realm.ORGANISATION, permission)


def on_platform(permission: Permission) -> Access:
    return Access(Realm.PLATFORM, permission)


class Actors(Protocol):
    """The actors of one person by realm, behind a request or a connection."""

    def get(self, realm: Realm) -> Actor:
        """Raises `Denied` if the person has no such actor."""

    def admit(self, actor: Actor) -> None:
        """Raises a `DomainError` if the actor's rights need more proof of identity than was given."""

    def reloaded(self) -> "Actors":
        """The same person, read from the database again; raises `SignedOut`."""


View = Callable[..., HttpResponseBase]


def requires(access: Access) -> Callable[[View], View]:
    """Run a page view as the actor it declares: signed in, permitted, and inside that actor's scope.

    What is only read is read as of one moment, so that a page and its frame ask once. Rights are read before that.
    """

    def decorate(view: View) -> View:
        @wraps(view)
        def guarded(request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponseBase:
            if access.realm is Realm.PUBLIC:
                return view(request, *args, **kwargs)
            if not request.user.is_authenticated:
                return _sign_in_first(request)
            actor = actor_for(request, access)
            with acting(actor), one_moment() if request.method in READING else nullcontext():
                response = _rendered(view(request, *args, **kwargs))
            bind_stream(request, access, response)
            return response

        guarded.access = access  # type: ignore[attr-defined]
        return guarded

    return decorate


def actor_for(request: HttpRequest, access: Access) -> Actor:
    """The actor of `request` in the declared realm (built by `tenants.middleware`); raises `Denied`, `InPersonOnly`."""
    if _needs_a_session(request, access) and getattr(request, "api_token", None) is not None:
        raise InPersonOnly
    actor = permitted(request.actors, access)  # type: ignore[attr-defined]
    request.actor = actor  # type: ignore[attr-defined]
    return actor


def permitted(actors: Actors, access: Access) -> Actor:
    """The actor in the declared realm, checked to hold the declared permission; raises a `DomainError`."""
    actor = actors.get(access.realm)
    if access.permission is not None:
        actor.require(access.permission)
    if access.realm is Realm.PLATFORM and not actor.platform:
        raise Denied(Permission.PLATFORM_OVERVIEW)
    if access.realm in (Realm.ORGANISATION, Realm.PLATFORM):
        actors.admit(actor)
    return actor


def _needs_a_session(request: HttpRequest, access: Access) -> bool:
    """A token may read its person's data but not change the account; otherwise it could prolong its own life."""
    return access.in_person or (access.realm is Realm.SELF and request.method not in SAFE_METHODS)


def _sign_in_first(request: HttpRequest) -> HttpResponseBase:
    if not request.headers.get("HX-Request"):
        return redirect_to_login(request.get_full_path())
    # A fragment must not swallow the sign-in page, and whoever has signed in returns to the page, not to the fragment.
    return HttpResponse(status=204, headers={"HX-Redirect": redirect_to_login(_page_of(request)).url})


def _page_of(fragment: HttpRequest) -> str:
    """Path and query of the page that requested a fragment; the start page if unknown."""
    try:
        page = urlsplit(fragment.headers.get("HX-Current-URL", ""))
    except ValueError:
        return "/"
    return urlunsplit(("", "", page.path or "/", page.query, ""))


def bind_stream(request: HttpRequest, access: Access, response: HttpResponseBase) -> None:
    """Bind a streamed response to the right under which it is sent; `TypeError` for one that cannot be ended."""
    if not response.streaming:
        return
    bind = getattr(response, "bind", None)
    if bind is None:
        raise TypeError(f"{request.path} streams what is never checked again: return a Stream")
    bind(request.actors, access)  # type: ignore[attr-defined]


def _rendered(response: HttpResponseBase) -> HttpResponseBase:
    """Templates query lazily: render while the scope is still active."""
    render = getattr(response, "render", None)
    return render() if render is not None and not getattr(response, "is_rendered", True) else response
