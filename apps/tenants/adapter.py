"""How allauth behaves here."""

import logging
from typing import Any

from allauth.account.adapter import DefaultAccountAdapter
from allauth.account.models import EmailAddress
from django.core.exceptions import ValidationError
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.utils.translation import gettext_lazy as _

from apps.audit.services import Target, record
from apps.common.actor import Actor
from apps.common.errors import Invalid
from apps.common.requests import address_of
from apps.tenants import registration, second_factor, sessions
from apps.tenants import sign_in_limits as limits
from apps.tenants.actors import personal_actor
from apps.tenants.models import User
from apps.tenants.services.former_names import was_erased

logger = logging.getLogger(__name__)
UNKNOWN_ADDRESS = "::"
LOGGED = {
    "mfa/email/totp_activated": "user.second_factor_set_up",
    "mfa/email/totp_deactivated": "user.second_factor_removed",
    "mfa/email/recovery_codes_generated": "user.recovery_codes_made",
    "socialaccount/email/account_connected": "user.sign_in_connected",
    "socialaccount/email/account_disconnected": "user.sign_in_disconnected",
}


class AccountAdapter(DefaultAccountAdapter):
    """Registration as the settings and invitations allow; signing in and new passwords leave rows in the log."""

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
        """If the platform's settings allow it, and for anybody who followed an invitation."""
        return registration.is_open(request)

    def clean_email(self, email: str) -> str:
        address: str = super().clean_email(email)
        try:
            registration.check_email(self.request, address)
        except Invalid as error:
            raise ValidationError(str(error.message)) from error
        return address

    def clean_username(self, username: str, shallow: bool = False) -> str:
        cleaned: str = super().clean_username(username, shallow)
        if was_erased(cleaned):
            raise ValidationError(self.error_messages["username_taken"])
        return cleaned

    def save_user(self, request: HttpRequest, user: User, form: Any, commit: bool = True) -> User:
        saved: User = super().save_user(request, user, form, commit)
        if commit:
            record(_actor(request, saved), action="user.registered", target=_target(saved))
        return saved

    def confirm_email(self, request: HttpRequest, email_address: EmailAddress) -> bool:
        """Confirming the address may be the last step before a new person gets their organisation."""
        confirmed = bool(super().confirm_email(request, email_address))
        if confirmed:
            user = email_address.user
            record(_actor(request, user), action="user.email_confirmed", target=_target(user))
            registration.grant_own_organisation(email_address.user)
        return confirmed

    def pre_authenticate(self, request: HttpRequest, **credentials: Any) -> None:
        """Raises ValidationError, in words that say when, while the next try has to wait."""
        login = str(credentials.get("username") or credentials.get("email") or "")
        self._try = begin_try(request, limits.account_of(login))

    def authenticate(self, request: HttpRequest, **credentials: Any) -> User | None:
        user: User | None = super().authenticate(request, **credentials)
        if user is not None:
            limits.succeeded(self._try)
        return user

    def get_client_ip(self, request: HttpRequest) -> str:
        """The same address as everywhere else; behind a socket there is none, and all callers then share one limit."""
        return address_of(request) or UNKNOWN_ADDRESS

    def clean_password(self, password: str, user: User | None = None) -> str:
        cleaned: str = super().clean_password(password, user)
        if user is not None and user.password_given and user.check_password(cleaned):
            raise ValidationError(_("Choose another one: whoever gave you this password knows it."))
        return cleaned

    def set_password(self, user: User, password: str) -> None:
        """A new password ends every session but the one in which it was set."""
        user.password_given = False
        super().set_password(user, password)
        actor = _actor(self.request, user)
        record(actor, action="user.password_changed", target=_target(user))
        here = self.request.session.session_key if self.request.user == user else None
        sessions.end_others(actor, keep=here)
        limits.reset_failures(user, keep=limits.caller_of(self.request).device if here else "")

    def get_password_change_redirect_url(self, request: HttpRequest) -> str:
        """The first page, where somebody who had to choose a password was going."""
        return "/"

    def post_login(self, request: HttpRequest, user: User, **kwargs: Any) -> HttpResponse:
        """Somebody who needs a second factor and has none is sent to set it up first."""
        record(_actor(request, user), action="user.signed_in", target=_target(user))
        if kwargs.get("signup"):
            registration.after_registration(request, user)
        response: HttpResponse = super().post_login(request, user, **kwargs)
        if second_factor.is_required_of(user) and not second_factor.has_second_factor(user.pk):
            response = redirect("account:security")
        limits.remember_browser(request, response, user)
        return response

    def send_notification_mail(
        self, template_prefix: str, user: User, context: dict[str, Any] | None = None, email: str | None = None
    ) -> None:
        """allauth calls this once after each change of how somebody signs in: the change goes into the log, too."""
        if action := LOGGED.get(template_prefix):
            record(_actor(self.request, user), action=action, target=_target(user))
        try:
            super().send_notification_mail(
                template_prefix, user, {**(context or {}), "person": user}, email or user.email
            )
        except OSError as error:  # refused, unreachable, timed out: the change itself stands
            logger.warning("%s was not sent to user %s: %s", template_prefix, user.pk, error)


def begin_try(request: HttpRequest, account: tuple[str, int | None]) -> limits.Try:
    """As `sign_in_limits.begin`, for forms; the answer becomes a 429."""
    try:
        return limits.begin(limits.caller_of(request), account)
    except limits.TooManyTries as error:
        request.wait_s = error.wait_s  # type: ignore[attr-defined]
        raise ValidationError(error.sentences, code=error.code) from error


def _actor(request: HttpRequest | None, user: User) -> Actor:
    return personal_actor(user, address=address_of(request) if request else None)


def _target(user: User) -> Target:
    return Target("user", str(user.pk), user.username)
