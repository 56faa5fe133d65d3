"""The page of the mail server and the SMS gateway: two forms, each saved and tried out on its own."""

from typing import Any

from django.http import HttpResponse
from django.shortcuts import render
from django.utils.translation import gettext as _
from django.views.decorators.http import require_http_methods

from apps.common.access import requires
from apps.common.pages import REFUSED, done
from apps.common.permissions import Permission as P
from apps.console.forms.settings.base import SettingsForm
from apps.console.forms.settings.notifications import MailForm, SmsForm
from apps.console.requests import StaffRequest
from apps.console.settings.editing import VIEW, check, context, keep, may_manage
from apps.notifications.services.trying import Tried, try_mail, try_sms
from apps.notifications.settings import MailSettings, SmsSettings
from apps.tenants.models import User

PAGE = "settings_notifications"
TEMPLATE = "console/settings/notifications.html"
FORMS: dict[str, type[SettingsForm]] = {"mail": MailForm, "sms": SmsForm}


@requires(VIEW)
@require_http_methods(["GET", "POST"])
def notifications(request: StaffRequest) -> HttpResponse:
    """`which` names the form that was sent. With `try` it is tried out as typed and nothing is saved."""
    editable = may_manage(request)
    shown: dict[str, SettingsForm] = {name: form(editable=editable, prefix=name) for name, form in FORMS.items()}
    if request.method != "POST":
        return _page(request, shown)
    request.actor.require(P.PLATFORM_SETTINGS_MANAGE)
    which = "sms" if request.POST.get("which") == "sms" else "mail"
    form = shown[which] = FORMS[which](request.POST, prefix=which)
    if "X-Validate" in request.headers:
        check(form)
        return _page(request, shown, status=REFUSED)
    if "try" in request.POST:
        check(form)
        tried = _try(request, form) if form.is_valid() and not form.errors else None
        return _page(request, shown, tried=tried, which=which, status=200 if tried else REFUSED)
    if keep(request, form):
        return done(request, _("The settings have been saved."), f"console:{PAGE}")
    return _page(request, shown, status=REFUSED)


def _try(request: StaffRequest, form: SettingsForm) -> Tried:
    """A message to oneself, by the way that the form describes."""
    user = User.objects.get(pk=request.actor.person())
    chosen = form.value()
    if isinstance(chosen, MailSettings):
        return try_mail(chosen, user)
    assert isinstance(chosen, SmsSettings)  # noqa: S101  the other of the two
    return try_sms(chosen, user)


def _page(request: StaffRequest, shown: dict[str, SettingsForm], *, status: int = 200, **more: Any) -> HttpResponse:
    return render(request, TEMPLATE, context(request, PAGE, **shown, **more), status=status)
