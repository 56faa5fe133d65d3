"""Context that every template needs, signed in or not."""

from typing import Any

from django.http import HttpRequest

THEMES = ("auto", "light", "dark")
THEME_COOKIE = "plstack_theme"


def appearance(request: HttpRequest) -> dict[str, Any]:
    theme = request.COOKIES.get(THEME_COOKIE, "auto")
    # What is pushed to pages is sent without the frame, which is another for each person.
    frame = "base_pushed.html" if getattr(request, "is_push", False) else "base_shell.html"
    return {"theme": theme if theme in THEMES else "auto", "frame": frame}
