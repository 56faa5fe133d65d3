"""How allauth behaves here."""

from typing import Any

from allauth.account.adapter import DefaultAccountAdapter
from django.http import HttpRequest, HttpResponse
from django.utils.translation import gettext_lazy as _

from apps.audit.services import Target, record
from apps.tenants.actors import personal_actor
from apps.tenants.middleware import address_of
from apps.tenants.models import User


class AccountAdapter(DefaultAccountAdapter):
    """No registration for now; signing in and every new password leave a row in the operation log."""

    # In the product's own words: allauth's name the way of signing in that was tried, and say 您 in Chinese.
    error_messages = {
        **DefaultAccountAdapter.error_messages,
        "username_password_mismatch": _("The account or the password is wrong."),
        "email_password_mismatch": _("The account or the password is wrong."),
        "enter_current_password": _("This is not the current password."),
        "invalid_password_reset": _("This link no longer works"),
        "too_many_login_attempts": _("Too many tries. Wait a few minutes, then try again."),
        "rate_limited": _("Too many tries. Wait a few minutes, then try again."),
    }

    def is_open_for_signup(self, request: HttpRequest) -> bool:
        """People are added by their organisation's admin or the platform's staff."""
        return False

    def set_password(self, user: User, password: str) -> None:
        super().set_password(user, password)
        _log(self.request, user, "user.password_changed")

    def post_login(self, request: HttpRequest, user: User, **kwargs: Any) -> HttpResponse:
        _log(request, user, "user.signed_in")
        response: HttpResponse = super().post_login(request, user, **kwargs)
        return response


def _log(request: HttpRequest | None, user: User, action: str) -> None:
    actor = personal_actor(user, address=address_of(request) if request else None)
    record(actor, action=action, target=Target("user", str(user.pk), user.username))
