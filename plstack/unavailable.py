"""Responses while the platform cannot serve, in the reader's language and without the database.

Either too many requests wait, or the database is away, wherever that shows: in a middleware, a session, a view, a
template or the API. Pages are rendered once per language; the API answers in problem+json.
"""

import json
import logging
import sys
from contextlib import suppress
from functools import lru_cache
from http import HTTPStatus
from io import BytesIO
from typing import Any, cast

from django.core.handlers.asgi import ASGIRequest
from django.http import HttpRequest, HttpResponse
from django.middleware.locale import LocaleMiddleware
from django.template.loader import render_to_string
from django.utils.translation import get_language, override
from django.utils.translation import gettext_lazy as _
from django.views.defaults import server_error as default_server_error

from apps.common.api import PROBLEM, problem_of
from apps.common.errors import DomainError, Unavailable
from apps.common.middleware import Handler, PreferredLanguage, SecurityHeaders
from plstack.away import is_away, is_redis_away

log = logging.getLogger(__name__)

RETRY_AFTER_S = 2
BUSY = Unavailable(
    _("Too many requests at once"), hint=_("Nothing was changed, and what runs goes on. Try again in a few seconds.")
)
DATABASE_AWAY = Unavailable(
    _("The platform cannot reach its database"),
    hint=_("What was confirmed is kept, and what runs goes on. Try again in a few seconds."),
)
TRY_AGAIN_LATER = 1013  # of WebSockets
SOCKET_ANSWER = "websocket.http.response"  # the extension with which a handshake is answered in HTTP


class Broken(DomainError):
    """A fault of the platform, as the API reports it."""

    code = "broken"
    status = HTTPStatus.INTERNAL_SERVER_ERROR


BROKEN = Broken(
    _("Something broke on our side"),
    hint=_(
        "The fault is the platform's, not yours, and it has been recorded. "
        "What was running goes on running. Try again in a minute."
    ),
)


def busy(scope: dict[str, Any]) -> HttpResponse:
    """A 503 response with Retry-After, made before any middleware sees the request."""
    with override(get_language()):  # the middleware does not reset the language
        return _busy_with_headers(ASGIRequest(scope, BytesIO()))


def server_error(request: HttpRequest) -> HttpResponse:
    """Django's `handler500`, called for an exception from the view or any middleware."""
    if is_away(sys.exc_info()[1]):
        return _unavailable_response(request, DATABASE_AWAY)
    if _is_api(request):
        return _problem(BROKEN)
    return default_server_error(request)


def _unavailable_response(request: HttpRequest, why: Unavailable) -> HttpResponse:
    response = _problem(why) if _is_api(request) else HttpResponse(_page(get_language(), why), status=why.status)
    response.headers["Retry-After"] = str(RETRY_AFTER_S)
    response.headers["Cache-Control"] = "no-store"
    return response


def _is_api(request: HttpRequest) -> bool:
    return request.path_info.startswith("/api/")


def _problem(why: DomainError) -> HttpResponse:
    return HttpResponse(json.dumps(problem_of(why)), status=why.status, content_type=PROBLEM)


@lru_cache
def _page(language: str | None, why: Unavailable) -> str:
    return render_to_string("503.html", {"problem": problem_of(why)})


def _busy_response(request: HttpRequest) -> HttpResponse:
    return _unavailable_response(request, BUSY)


_busy_with_headers = SecurityHeaders(PreferredLanguage(cast(Handler, LocaleMiddleware(_busy_response))))


class RetryLaterSockets:
    """End WebSockets with a code that makes clients retry when the database or Redis is away."""

    def __init__(self, application: Any) -> None:
        self.application = application

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        accepted = False

        async def tracking_accept(message: Any) -> None:
            nonlocal accepted
            accepted = accepted or message["type"] == "websocket.accept"
            await send(message)

        try:
            await self.application(scope, receive, tracking_accept)
        except Exception as error:
            if not is_away(error) and not is_redis_away(error):
                raise
            log.warning("a WebSocket ends: %s", str(error).partition("\n")[0])
            with suppress(Exception):  # the client has gone as well
                await _end(scope, send, accepted)


async def _end(scope: Any, send: Any, accepted: bool) -> None:
    if accepted or SOCKET_ANSWER not in scope.get("extensions", {}):
        await send({"type": "websocket.close", "code": TRY_AGAIN_LATER})
        return
    headers = [(b"retry-after", str(RETRY_AFTER_S).encode())]
    await send({"type": f"{SOCKET_ANSWER}.start", "status": int(HTTPStatus.SERVICE_UNAVAILABLE), "headers": headers})
    await send({"type": f"{SOCKET_ANSWER}.body", "body": b""})
