"""How allauth behaves here."""

from typing import Any

from allauth.account.adapter import DefaultAccountAdapter
from django.http import HttpRequest, HttpResponse

from apps.audit.services import Target, record
from apps.tenants.actors import personal_actor
from apps.tenants.middleware import address_of
from apps.tenants.models import User


class AccountAdapter(DefaultAccountAdapter):
    """No registration for now; signing in and every new password leave a row in the operation log."""

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
