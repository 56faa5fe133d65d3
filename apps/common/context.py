"""Context that every template needs, signed in or not."""

from typing import Any

from django.http import HttpRequest

THEMES = ("auto", "light", "dark")
THEME_COOKIE = "plstack_theme"


def appearance(request: HttpRequest) -> dict[str, Any]:
    theme = request.COOKIES.get(THEME_COOKIE, "auto")
    return {"theme": theme if theme in THEMES else "auto"}
