"""Views that belong to no app: the theme, the health probe."""

from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.views.decorators.http import require_GET, require_POST

from apps.common.access import PUBLIC, requires
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
def health(request: HttpRequest) -> HttpResponse:
    """200 while this process answers; says nothing else."""
    return HttpResponse("ok\n", content_type="text/plain")
