"""Sign-in with external accounts: it never takes an account over, and new people follow the rules of registration."""

import logging
from typing import Any

from allauth.account.models import EmailAddress
from allauth.core.exceptions import ImmediateHttpResponse
from allauth.socialaccount.adapter import DefaultSocialAccountAdapter
from allauth.socialaccount.models import SocialAccount, SocialApp, SocialLogin
from allauth.socialaccount.providers.base import AuthProcess
from django.http import Http404, HttpRequest
from django.shortcuts import render
from django.urls import reverse
from django.utils.translation import gettext_lazy as _

from apps.audit.services import Target, record
from apps.common.errors import Invalid
from apps.common.requests import address_of
from apps.common.text import strip_invisible
from apps.tenants import registration, settings
from apps.tenants.actors import personal_actor
from apps.tenants.models import User
from apps.tenants.social.providers import PROVIDERS, apps_of
from apps.tenants.social.settings import SignInSettings

log = logging.getLogger(__name__)


class SocialAdapter(DefaultSocialAccountAdapter):
    error_messages = {
        **DefaultSocialAccountAdapter.error_messages,
        "no_password": _("Set a password first: without it, nothing would let you in any more."),
        "connected_other": _("This account is connected to somebody else here."),
    }

    def list_apps(self, request: Any, provider: str | None = None, client_id: str | None = None) -> list[SocialApp]:
        """From the platform's settings, never from the library's own tables."""
        found = apps_of(settings.get(SignInSettings))
        return [app for app in found if provider in (None, app.provider) and client_id in (None, app.client_id)]

    def get_app(self, request: Any, provider: str, client_id: str | None = None) -> SocialApp:
        """A provider that is switched off does not exist."""
        found = self.list_apps(request, provider, client_id)
        if not found:
            raise Http404
        return found[0]

    def get_provider(self, request: Any, provider: str, client_id: str | None = None) -> Any:
        if provider not in PROVIDERS:
            raise Http404
        return PROVIDERS[provider](request, app=self.get_app(request, provider, client_id))

    def list_providers(self, request: HttpRequest) -> list[Any]:
        return [PROVIDERS[app.provider](request, app=app) for app in self.list_apps(request)]

    def can_authenticate_by_email(self, login: SocialLogin, email: str) -> bool:
        """Only if both addresses are proven: the provider is trusted, and our account has confirmed its own."""
        proven = EmailAddress.objects.filter(email__iexact=email, verified=True, user__email__iexact=email)
        return bool(login.provider.app.settings.get("trusted")) and proven.exists()

    def pre_social_login(self, request: HttpRequest, sociallogin: SocialLogin) -> None:
        """If an account here has the same, unproven address, the person must sign in to that one first."""
        if sociallogin.state.get("process") == AuthProcess.CONNECT or sociallogin.is_existing:
            return
        emails = [each.email for each in sociallogin.email_addresses]
        if any(User.objects.filter(email__iexact=email).exists() for email in emails):
            context = {"provider": sociallogin.provider}
            raise ImmediateHttpResponse(render(request, "socialaccount/account_exists.html", context, status=409))

    def is_open_for_signup(self, request: HttpRequest, sociallogin: SocialLogin) -> bool:
        if not super().is_open_for_signup(request, sociallogin):
            return False
        email = next((each.email for each in sociallogin.email_addresses), "")
        try:
            registration.check_email(request, email)
        except Invalid:
            return False
        return True

    def populate_user(self, request: HttpRequest, sociallogin: SocialLogin, data: dict[str, Any]) -> User:
        user: User = super().populate_user(request, sociallogin, data)
        user.name = " ".join(strip_invisible(str(data.get("name") or "")).split())[:80]
        return user

    def save_user(self, request: HttpRequest, sociallogin: SocialLogin, form: Any = None) -> User:
        user: User = super().save_user(request, sociallogin, form)
        if form is None:  # with one, the account's adapter has written it down
            actor = personal_actor(user, address=address_of(request))
            target = Target("user", str(user.pk), user.username)
            record(actor, action="user.registered", target=target, after={"by": sociallogin.account.provider})
        return user

    def validate_disconnect(self, account: SocialAccount, accounts: Any) -> None:
        """Nothing to add: the library ensures that another way to sign in remains."""

    def get_connect_redirect_url(self, request: HttpRequest, socialaccount: SocialAccount) -> str:
        return reverse("account:connected")

    def on_authentication_error(
        self, request: HttpRequest, provider: Any, error: Any = None, exception: Any = None, extra_context: Any = None
    ) -> None:
        """Show the person a sentence; log the provider's answer, without secrets, for the operator."""
        log.warning("sign-in by %s failed: %s %s", provider.id, error, type(exception).__name__ if exception else "")
