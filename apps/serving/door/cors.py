"""Which pages may call a service from a browser: those that its owner names, and never with a browser's cookies."""

from apps.serving.door.routes import Route
from apps.workloads.gateway import headers
from apps.workloads.gateway.headers import Headers

CACHED_S = b"600"
METHODS = b"GET, POST, PUT, PATCH, DELETE, OPTIONS"
ANSWERED = frozenset(
    b"access-control-allow-origin access-control-allow-credentials access-control-allow-methods "
    b"access-control-allow-headers access-control-expose-headers access-control-max-age set-cookie".split()
)
"""A replica does not decide this, nor does it leave cookies on the platform's domain."""


def allowed(route: Route, incoming: Headers) -> Headers:
    """What the answer to a page says; nothing for a page that may not read it."""
    origin = headers.get(incoming, b"origin")
    if origin is None or not ({"*", origin.lower()} & set(route.cors_origins)):
        return []
    return [
        (b"access-control-allow-origin", origin.encode("latin-1")),
        (b"access-control-expose-headers", b"x-request-id, retry-after"),
        (b"vary", b"Origin"),
    ]


def is_preflight(method: str, incoming: Headers) -> bool:
    asked = headers.get(incoming, b"access-control-request-method")
    return method == "OPTIONS" and asked is not None and headers.get(incoming, b"origin") is not None


def preflight(route: Route, incoming: Headers) -> Headers:
    """May the page ask? A browser sends no key with this question."""
    found = allowed(route, incoming)
    if not found:
        return []
    wanted = headers.get(incoming, b"access-control-request-headers") or "authorization, content-type"
    return [
        *found,
        (b"access-control-allow-methods", METHODS),
        (b"access-control-allow-headers", wanted.encode("latin-1")),
        (b"access-control-max-age", CACHED_S),
    ]
