"""The way to another account's sign-in page and back."""

from collections.abc import Callable
from typing import Any

from allauth.socialaccount.providers.oauth2.views import OAuth2CallbackView, OAuth2LoginView
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render

from apps.common.access import PUBLIC, requires
from apps.tenants.social.providers import PROVIDERS

View = Callable[..., HttpResponse]


class LeavingView(OAuth2LoginView):
    """Leaves the site by a page instead of a redirect, because `form-action` lets forms lead only to this site."""

    def dispatch(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        response: HttpResponse = super().dispatch(request, *args, **kwargs)
        url = response.headers.get("Location", "")
        if not url.startswith(("https://", "http://")):
            return response
        return render(request, "socialaccount/leaving.html", {"url": url, "provider": self.get_provider()})


def leaving_for(provider: str) -> View:
    """The view that starts signing in with this provider, or connecting it."""
    return _declared(LeavingView.adapter_view(PROVIDERS[provider].oauth2_adapter_class))


def callback_of(provider: str) -> View:
    """The view to which this provider sends people back."""
    return _declared(OAuth2CallbackView.adapter_view(PROVIDERS[provider].oauth2_adapter_class))


def _declared(view: View) -> View:
    """Declared open to everybody: the state and code in the answer decide what it is worth."""

    @requires(PUBLIC)
    def declared(request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        return view(request, *args, **kwargs)

    return declared  # type: ignore[return-value]
