"""The page of how people sign in: the second factor, and other accounts. Two forms, each saved on its own."""

from django.http import HttpResponse
from django.urls import reverse
from django.views.decorators.http import require_http_methods

from apps.common.access import requires
from apps.console.forms.settings.base import SettingsForm
from apps.console.forms.settings.sign_in import SecurityForm, SignInForm
from apps.console.requests import StaffRequest
from apps.console.settings.editing import VIEW, edit_several
from apps.tenants import second_factor

FORMS: dict[str, type[SettingsForm]] = {"security": SecurityForm, "others": SignInForm}


@requires(VIEW)
@require_http_methods(["GET", "POST"])
def sign_in(request: StaffRequest) -> HttpResponse:
    providers = ("weixin", "microsoft")
    return edit_several(
        request,
        "settings_sign_in",
        FORMS,
        template="console/settings/sign_in.html",
        callbacks={name: request.build_absolute_uri(reverse(f"{name}_callback")) for name in providers},
        demanded=second_factor.is_demanded(),
    )
