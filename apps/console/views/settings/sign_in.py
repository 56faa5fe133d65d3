"""The page of how people sign in: the second factor, and other accounts. Two forms, each saved on its own."""

from typing import Any

from django.http import HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.utils.translation import gettext as _
from django.views.decorators.http import require_http_methods

from apps.common.access import requires
from apps.common.permissions import Permission as P
from apps.console.forms.settings.base import SettingsForm
from apps.console.forms.settings.sign_in import SecurityForm, SignInForm
from apps.console.requests import StaffRequest
from apps.console.settings.editing import VIEW, check, context, keep, may_manage
from apps.console.views.shared import REFUSED, done
from apps.tenants import second_factor

PAGE = "settings_sign_in"
TEMPLATE = "console/settings/sign_in.html"
FORMS: dict[str, type[SettingsForm]] = {"security": SecurityForm, "others": SignInForm}


@requires(VIEW)
@require_http_methods(["GET", "POST"])
def sign_in(request: StaffRequest) -> HttpResponse:
    """`which` names the form that was sent."""
    shown: dict[str, SettingsForm] = {
        name: form(editable=may_manage(request), prefix=name) for name, form in FORMS.items()
    }
    if request.method != "POST":
        return _page(request, shown)
    request.actor.require(P.PLATFORM_SETTINGS_MANAGE)
    which = "others" if request.POST.get("which") == "others" else "security"
    form = shown[which] = FORMS[which](request.POST, prefix=which)
    if "X-Validate" in request.headers:
        check(form)
    elif keep(request, form):
        return done(request, _("The settings have been saved."), f"console:{PAGE}")
    return _page(request, shown, status=REFUSED)


def _page(request: StaffRequest, shown: dict[str, SettingsForm], *, status: int = 200) -> HttpResponse:
    more: dict[str, Any] = {
        "callbacks": {
            name: request.build_absolute_uri(reverse(f"{name}_callback")) for name in ("weixin", "microsoft")
        },
        "demanded": second_factor.is_demanded(),
    }
    return render(request, TEMPLATE, context(request, PAGE, **shown, **more), status=status)
