"""How allauth's second factor behaves here: sealed secrets, codes that work once, words of this product."""

import base64
from typing import Any

from allauth.core import context
from allauth.mfa import app_settings
from allauth.mfa.adapter import DefaultMFAAdapter
from allauth.mfa.base.forms import AuthenticateForm, ReauthenticateForm
from allauth.mfa.models import Authenticator
from allauth.mfa.totp.internal.auth import format_hotp_value, hotp_value, yield_hotp_counters_from_time
from django import forms
from django.db import transaction
from django.utils.translation import gettext_lazy as _

from apps.common.sealing import purpose_for, seal, unseal
from apps.tenants import second_factor
from apps.tenants import sign_in_limits as limits
from apps.tenants.adapter import begin_try
from apps.tenants.models import User

# The library's hook does not say whose secret it is, so the row is not part of the purpose.
PURPOSE = purpose_for("mfa_authenticator", "", "data")
LAST_COUNTER = "last_counter"


class MFAAdapter(DefaultMFAAdapter):
    error_messages = {
        **DefaultMFAAdapter.error_messages,
        "incorrect_code": _("This code is not right. Each code works once: wait for the next one and try again."),
        "cannot_delete_authenticator": _("Your role needs a second factor: it cannot be switched off."),
        "cannot_generate_recovery_codes": _("Set up the second factor first."),
    }

    def encrypt(self, text: str) -> str:
        return base64.b64encode(seal(text.encode(), purpose=PURPOSE)).decode()

    def decrypt(self, encrypted_text: str) -> str:
        return unseal(base64.b64decode(encrypted_text), purpose=PURPOSE).decode()

    def get_totp_label(self, user: User) -> str:
        return user.username

    def can_delete_authenticator(self, authenticator: Authenticator) -> bool:
        return not second_factor.is_required_of(authenticator.user)


def use_once(authenticator: Authenticator, code: str) -> bool:
    """Accept a code once: whether it is newer than the last accepted one (RFC 6238, section 5.2).

    The library remembers a code for one period, but accepts it in the adjacent periods as well.
    """
    secret = MFAAdapter().decrypt(authenticator.data["secret"])
    typed = code.replace(" ", "").replace("-", "")
    matching = [n for n in yield_hotp_counters_from_time() if format_hotp_value(hotp_value(secret, n)) == typed]
    with transaction.atomic():
        row = Authenticator.objects.select_for_update().get(pk=authenticator.pk)
        fresh = [counter for counter in matching if counter > row.data.get(LAST_COUNTER, -1)]
        if not fresh:
            return False
        row.data[LAST_COUNTER] = max(fresh)
        row.save(update_fields=["data"])
    return True


class CodesWorkOnce(forms.Form):
    """Mixin for the library's forms that check a code."""

    authenticator: Authenticator
    user: User

    def clean_code(self) -> str:
        made = begin_try(context.request, limits.code_account_of(self.user))
        code: str = super().clean_code()  # type: ignore[misc]
        if self.authenticator.type == Authenticator.Type.TOTP and not use_once(self.authenticator, code):
            raise MFAAdapter().validation_error("incorrect_code")
        limits.succeeded(made)
        return code


class SignInCodeForm(CodesWorkOnce, AuthenticateForm):
    """The second step of signing in."""


class ConfirmCodeForm(CodesWorkOnce, ReauthenticateForm):
    """Re-authentication by a code instead of the password."""


def second_factor_state(user: User) -> dict[str, Any]:
    """What the security page says: since when there is a second factor, and how many recovery codes are left."""
    found = {each.type: each for each in Authenticator.objects.filter(user=user)}
    totp, codes = found.get(Authenticator.Type.TOTP), found.get(Authenticator.Type.RECOVERY_CODES)
    return {
        "since": totp.created_at if totp else None,
        "used_at": totp.last_used_at if totp else None,
        # Counted without opening them: the page shows even where the sealing keys are lost.
        "codes_left": app_settings.RECOVERY_CODE_COUNT - codes.data["used_mask"].bit_count() if codes else 0,
        "required": second_factor.is_required_of(user),
    }
