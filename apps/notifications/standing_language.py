"""The language of pages for people who have chosen none in this browser: their own, else the installation's."""

from collections.abc import Callable

from django.conf import settings as installation
from django.http import HttpRequest, HttpResponse
from django.utils import translation

from apps.common.middleware import is_api
from apps.notifications.branding import BrandingSettings
from apps.tenants import settings
from apps.tenants.models import User


class StandingLanguage:
    """Speaks the language that the person keeps in the profile, else the one that the installation has by default.

    Where neither is set, the browser decides (`PreferredLanguage`). Decided for whole pages only, which read the
    branding anyway; a cookie until the browser closes lets their fragments follow.
    """

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        language = _standing(request) if _is_page(request) else ""
        if not language:
            return self.get_response(request)
        translation.activate(language)
        request.LANGUAGE_CODE = language
        response = self.get_response(request)
        if installation.LANGUAGE_COOKIE_NAME not in response.cookies:
            response.set_cookie(installation.LANGUAGE_COOKIE_NAME, language, samesite="Lax")
        return response


def _is_page(request: HttpRequest) -> bool:
    """Whether a browser opens a whole page and has not chosen a language."""
    chosen = installation.LANGUAGE_COOKIE_NAME in request.COOKIES
    whole = "text/html" in request.headers.get("Accept", "") and "HX-Request" not in request.headers
    return whole and not chosen and not is_api(request)


def _standing(request: HttpRequest) -> str:
    own = request.user.language if isinstance(request.user, User) else ""
    wanted = own or settings.get(BrandingSettings).language
    return wanted if wanted in dict(installation.LANGUAGES) else ""
