"""Allow WebSockets only from the portal's own pages, compared by scheme, host and port like Django's CSRF check.

Channels' validator by allowed hosts accepts any port and scheme of a host, but the gateway's pages are on this machine.
"""

from collections.abc import Awaitable, Callable
from io import BytesIO
from typing import Any

from channels.security.websocket import WebsocketDenier
from django.conf import settings
from django.core.exceptions import DisallowedHost
from django.core.handlers.asgi import ASGIRequest

Application = Callable[..., Awaitable[None]]


class OwnOriginOnly:
    """Refuse the handshake of other origins, and of clients that send no Origin header."""

    def __init__(self, application: Application) -> None:
        self.application = application
        self.refuse = WebsocketDenier()

    async def __call__(self, scope: dict[str, Any], receive: Any, send: Any) -> None:
        application = self.application if is_own_origin(scope) else self.refuse
        await application(scope, receive, send)


def is_own_origin(scope: dict[str, Any]) -> bool:
    named = [value for name, value in scope["headers"] if name == b"origin"]
    if len(named) != 1:
        return False
    origin = named[0].decode("latin-1").lower()
    scheme = "https" if scope.get("scheme") == "wss" else "http"
    request = ASGIRequest({**scope, "type": "http", "method": "GET", "scheme": scheme}, BytesIO())
    try:
        own = f"{request.scheme}://{request.get_host()}".lower()
    except DisallowedHost:
        return False
    return origin == own or origin in {each.lower() for each in settings.CSRF_TRUSTED_ORIGINS}
