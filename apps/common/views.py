"""Views that belong to no app: the theme, the health probe."""

from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.views.decorators.http import require_GET, require_POST

from apps.common.access import PUBLIC, requires
from apps.common.components import database_answers, redis_answers
from apps.common.context import THEME_COOKIE, THEMES
from apps.common.requests import safe_return

YEAR_S = 365 * 24 * 3600


@requires(PUBLIC)
@require_POST
def set_theme(request: HttpRequest) -> HttpResponse:
    """Remember light, dark or the system's choice in a cookie, and go back to the page."""
    theme = request.POST.get("theme", "auto")
    back = request.POST.get("next") or request.headers.get("Referer") or "/"
    response = HttpResponseRedirect(safe_return(request, back))
    response.set_cookie(THEME_COOKIE, theme if theme in THEMES else "auto", max_age=YEAR_S, samesite="Lax")
    return response


@requires(PUBLIC)
@require_GET
def live(request: HttpRequest) -> HttpResponse:
    """Liveness: 200 while this process answers. It checks nothing else, because a restart would not help."""
    return HttpResponse("ok\n", content_type="text/plain")


@requires(PUBLIC)
@require_GET
def health(request: HttpRequest) -> HttpResponse:
    """Readiness: 200, or 503 with the names of unreachable components, one per line."""
    away = [name for name, answers in (("database", database_answers), ("redis", redis_answers)) if not answers()]
    if not away:
        return HttpResponse("ok\n", content_type="text/plain")
    text = "".join(f"{name}: cannot be reached\n" for name in away)
    return HttpResponse(text, status=503, content_type="text/plain", headers={"Retry-After": "2"})
