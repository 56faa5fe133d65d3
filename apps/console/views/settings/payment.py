"""The settings page of payments: two forms, each saved on its own."""

from typing import Any

from django.http import HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.utils.translation import gettext as _
from django.views.decorators.http import require_http_methods

from apps.billing.alipay import keys
from apps.billing.alipay.settings import AlipaySettings, is_installed
from apps.common.access import requires
from apps.common.permissions import Permission as P
from apps.console.forms.settings.base import SettingsForm
from apps.console.forms.settings.payment import AlipayForm, PaymentForm
from apps.console.requests import StaffRequest
from apps.console.settings.editing import VIEW, check, context, keep, may_manage
from apps.console.views.shared import REFUSED, done
from apps.tenants import settings

PAGE = "settings_payment"
TEMPLATE = "console/settings/payment.html"
FORMS: dict[str, type[SettingsForm]] = {"recharge": PaymentForm, "alipay": AlipayForm}


@requires(VIEW)
@require_http_methods(["GET", "POST"])
def payment(request: StaffRequest) -> HttpResponse:
    """`which` names the form that was sent."""
    shown = {name: form(editable=may_manage(request), prefix=name) for name, form in FORMS.items()}
    if request.method != "POST":
        return _page(request, shown)
    request.actor.require(P.PLATFORM_SETTINGS_MANAGE)
    which = "alipay" if request.POST.get("which") == "alipay" else "recharge"
    form = shown[which] = FORMS[which](request.POST, prefix=which)
    if "X-Validate" in request.headers:
        check(form)
    elif keep(request, form):
        return done(request, _("The settings have been saved."), f"console:{PAGE}")
    return _page(request, shown, status=REFUSED)


def _page(request: StaffRequest, shown: dict[str, SettingsForm], *, status: int = 200) -> HttpResponse:
    found = settings.get(AlipaySettings)
    own = keys.public_of(found.private_key) if found.private_key else ""
    more: dict[str, Any] = {
        "installed": is_installed(),
        "alipay_on": found.is_ready,
        "own_public_key": own,
        "fingerprint": keys.fingerprint(own) if own else "",
        "notify_url": request.build_absolute_uri(reverse("billing:alipay_notify")),
    }
    return render(request, TEMPLATE, context(request, PAGE, **shown, **more), status=status)
