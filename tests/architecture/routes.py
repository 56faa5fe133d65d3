"""Every route of the site, taken from the URL configuration itself, so that a new one cannot be forgotten."""

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from django.urls import URLPattern, URLResolver, get_resolver

KEY = re.compile(r"<(?:\w+:)?(\w+)>")

# Routes of libraries; what they may show is said here because they cannot declare it themselves.
THIRD_PARTY = {
    "account_login",
    "account_logout",
    "account_signup",
    "account_inactive",
    "account_change_password",
    "account_set_password",
    "account_reauthenticate",
    "account_email",
    "account_email_verification_sent",
    "account_confirm_email",
    "account_reset_password",
    "account_reset_password_done",
    "account_reset_password_from_key",
    "account_reset_password_from_key_done",
    "account_confirm_login_code",
    "account_request_login_code",
    "mfa_index",
    "socialaccount_connections",
    "socialaccount_login_cancelled",
    "socialaccount_login_error",
    "socialaccount_signup",
    "mfa_authenticate",
    "mfa_reauthenticate",
    "mfa_activate_totp",
    "mfa_deactivate_totp",
    "mfa_view_recovery_codes",
    "mfa_generate_recovery_codes",
    "mfa_download_recovery_codes",
    "set_language",
    "schema",
    "api-docs",
}
STYLEGUIDE = {"styleguide", "styleguide-series"}  # only with DEBUG


@dataclass(frozen=True, slots=True)
class Route:
    """One route: its name (its path where it has none), the view, and its path with `<kind:key>` in it."""

    name: str
    view: Callable[..., Any]
    path: str

    @property
    def keys(self) -> tuple[str, ...]:
        return tuple(KEY.findall(self.path))

    def url(self, values: dict[str, Any]) -> str:
        """Raises KeyError for a key that the caller does not know."""
        return KEY.sub(lambda found: str(values[found[1]]), self.path)

    @property
    def access(self) -> Any:
        """The declared access of a page or an API class; None where there is none."""
        owner = getattr(self.view, "cls", None) or getattr(self.view, "view_class", None) or self.view
        return getattr(owner, "access", None)


def routes() -> list[Route]:
    return [route for route in _walk(get_resolver(), (), "/") if route.name not in STYLEGUIDE]


def own_routes() -> list[Route]:
    return [route for route in routes() if route.name not in THIRD_PARTY]


def _walk(resolver: URLResolver, namespaces: tuple[str, ...], before: str) -> Iterator[Route]:
    for pattern in resolver.url_patterns:
        path = before + str(pattern.pattern)
        if isinstance(pattern, URLResolver):
            inner = (*namespaces, pattern.namespace) if pattern.namespace else namespaces
            yield from _walk(pattern, inner, path)
        elif isinstance(pattern, URLPattern):
            yield Route(":".join((*namespaces, pattern.name)) if pattern.name else path, pattern.callback, path)
