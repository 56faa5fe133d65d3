"""Headers on every response, the person's language, domain errors as pages, and the way back from a form's address."""

from collections.abc import Callable, Iterator
from itertools import chain
from typing import TypeVar
from urllib.parse import urlsplit

from django.conf import settings
from django.core.exceptions import BadRequest
from django.http import HttpRequest, HttpResponse, HttpResponseNotAllowed, QueryDict
from django.shortcuts import redirect, render
from django.urls import Resolver404, resolve, reverse
from django.utils.translation import get_supported_language_variant
from django.utils.translation import gettext_lazy as _

from apps.common import text
from apps.common.errors import DomainError, Invalid, NotFound

Handler = Callable[[HttpRequest], HttpResponse]
View = TypeVar("View", bound=Callable[..., object])

POLICY = "; ".join(
    [
        "default-src 'self'",
        "script-src 'self'",
        "style-src 'self'",
        "style-src-attr 'unsafe-inline'",  # data-carrying widths and positions only
        "img-src 'self' data: blob:",
        "font-src 'self' data:",
        "connect-src 'self' ws: wss:",
        "frame-ancestors 'none'",
        "base-uri 'none'",
        "form-action 'self'",
        "object-src 'none'",
    ]
)


class SecurityHeaders:
    """Content security policy and permissions policy; a view that serves a file sets its own, stricter one."""

    def __init__(self, get_response: Handler) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        response = self.get_response(request)
        response.headers.setdefault("Content-Security-Policy", POLICY)
        response.headers.setdefault("Permissions-Policy", "camera=(), geolocation=(), microphone=(), payment=()")
        return response


class PreferredLanguage:
    """Chinese browsers get Chinese, all others English, until the person chooses.

    Runs before LocaleMiddleware: only maps the many zh tags that browsers send to the one that exists.
    """

    def __init__(self, get_response: Handler) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        accepted = request.headers.get("Accept-Language", "")
        if settings.LANGUAGE_COOKIE_NAME not in request.COOKIES and accepted[:2].lower() == "zh":
            request.META["HTTP_ACCEPT_LANGUAGE"] = get_supported_language_variant("zh-hans")
        return self.get_response(request)


class DomainErrors:
    """Renders domain errors that no form has caught as pages, with their own status."""

    def __init__(self, get_response: Handler) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        return self.get_response(request)

    def process_exception(self, request: HttpRequest, exception: Exception) -> HttpResponse | None:
        return refusal(request, exception) if isinstance(exception, DomainError) else None


def refusal(request: HttpRequest, error: DomainError) -> HttpResponse:
    """A page with the error, or a redirect to the page where it can be fixed."""
    if error.leads_to:
        return _go_to(request, reverse(error.leads_to))
    template = "errors/404.html" if isinstance(error, NotFound) else "errors/domain.html"
    response = render(request, template, {"error": error}, status=error.status)
    for name, value in error.headers.items():
        response.headers[name] = value
    return response


class PlainInput:
    """Refuses text that cannot be stored or shown, in addresses, queries and forms, before any view sees it.

    Bodies of the API are checked by `bodies`, field by field, those of other programs by the views that read them.
    """

    def __init__(self, get_response: Handler) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        if (request.content_params or {}).get("charset", "utf-8").lower() not in CHARSETS:
            raise BadRequest("charset")
        sent = chain([request.path_info], request.COOKIES.values(), *_pairs(request.GET))
        if any(text.unstorable(each) for each in sent) or not _is_address(request.GET.get(RETURN, "")):
            raise BadRequest("characters")
        return self.get_response(request)

    def process_view(self, request: HttpRequest, view: object, args: object, kwargs: object) -> HttpResponse | None:
        if request.method != "POST" or getattr(view, "csrf_exempt", False):
            return None
        if not _is_address(request.POST.get(RETURN, "")):
            raise BadRequest(RETURN)
        beside_fields: frozenset[str] = getattr(view, "beside_fields", frozenset())
        for name, values in request.POST.lists():
            if name not in beside_fields and (
                problem := next(filter(None, map(text.text_problem, (name, *values))), "")
            ):
                return refusal(request, Invalid(problem, hint=_("Go back and remove it: it cannot be seen.")))
        return None


CHARSETS = {"utf-8", "utf8", "us-ascii"}
RETURN = "next"


def _is_address(wanted: str) -> bool:
    """Whether it parses as an address: libraries fail on `http://[` before they check whether it is safe."""
    try:
        urlsplit(wanted)
    except ValueError:
        return False
    return True


def says_beside(*names: str) -> Callable[[View], View]:
    """Marks a view whose form has fields of these names that hold programs, which may contain control characters.

    The view's form redisplays what was typed and says beside each field what cannot be stored.
    """

    def decorate(view: View) -> View:
        view.beside_fields = frozenset(names)  # type: ignore[attr-defined]
        return view

    return decorate


def is_api(request: HttpRequest) -> bool:
    return request.path_info.startswith("/api/")


def _pairs(query: QueryDict) -> Iterator[list[str]]:
    return ([name, *values] for name, values in query.lists())


class PageAbove:
    """Redirects a GET of an address that only accepts a form to the page that the form belongs to.

    A refused form is shown at the address that it was sent to. Changing the language or the theme there, signing in
    again and Enter in the address bar all ask for that address by GET, and browsers have nothing to show for a 405.
    """

    def __init__(self, get_response: Handler) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        response = self.get_response(request)
        if isinstance(response, HttpResponseNotAllowed) and _is_opened(request):
            return redirect(_page_above(request.path_info))
        return response


def _is_opened(request: HttpRequest) -> bool:
    """Whether a person opened it in a browser: neither a fragment nor an API call."""
    wants_page = "text/html" in request.headers.get("Accept", "") and "HX-Request" not in request.headers
    return wants_page and request.method in ("GET", "HEAD")


def _page_above(path: str) -> str:
    """The nearest existing parent address, in the end the portal's first page."""
    parts = path.strip("/").split("/")[:-1]
    while parts:
        above = f"/{'/'.join(parts)}/"
        try:
            resolve(above)
        except Resolver404:
            parts.pop()
        else:
            return above
    return "/"


def _go_to(request: HttpRequest, url: str) -> HttpResponse:
    """Redirect; a fragment must not swallow a whole page."""
    if request.headers.get("HX-Request"):
        return HttpResponse(status=204, headers={"HX-Redirect": url})
    return redirect(url)
