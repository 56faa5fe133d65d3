"""The answer to who comes when too many requests wait: in the reader's language, and without the database.

It is given before any thread is taken, so its language comes from the cookie or the browser alone, and the page is
rendered once for each language.
"""

import json
from functools import lru_cache
from io import BytesIO
from typing import Any, cast

from django.core.handlers.asgi import ASGIRequest
from django.http import HttpRequest, HttpResponse
from django.middleware.locale import LocaleMiddleware
from django.template.loader import render_to_string
from django.utils.translation import get_language, override
from django.utils.translation import gettext_lazy as _

from apps.common.api import PROBLEM, problem_of
from apps.common.errors import Unavailable
from apps.common.middleware import Handler, PreferredLanguage, SecurityHeaders

RETRY_AFTER_S = 2
BUSY = Unavailable(
    _("Too many requests at once"), hint=_("Nothing was changed, and what runs goes on. Try again in a few seconds.")
)


def busy(scope: dict[str, Any]) -> HttpResponse:
    """503 with Retry-After: problem+json below /api/, a page elsewhere."""
    with override(get_language()):  # the middleware leaves the language as it has set it
        response: HttpResponse = _answer(ASGIRequest(scope, BytesIO()))
    response.headers["Retry-After"] = str(RETRY_AFTER_S)
    response.headers["Cache-Control"] = "no-store"
    return response


def _told(request: HttpRequest) -> HttpResponse:
    if request.path_info.startswith("/api/"):
        return HttpResponse(json.dumps(problem_of(BUSY)), status=BUSY.status, content_type=PROBLEM)
    return HttpResponse(_page(get_language()), status=BUSY.status)


@lru_cache
def _page(language: str | None) -> str:
    return render_to_string("503.html", {"problem": problem_of(BUSY)})


_answer = SecurityHeaders(PreferredLanguage(cast(Handler, LocaleMiddleware(_told))))
