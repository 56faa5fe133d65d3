"""The settings page of payments: three forms, each saved on its own."""

from django.http import HttpResponse
from django.urls import reverse
from django.views.decorators.http import require_http_methods

from apps.billing.payments.alipay import keys
from apps.billing.payments.alipay.settings import AlipaySettings, is_installed
from apps.common.access import requires
from apps.console.forms.arrears import ArrearsForm
from apps.console.forms.settings.base import SettingsForm
from apps.console.forms.settings.payment import AlipayForm, PaymentForm
from apps.console.requests import StaffRequest
from apps.console.settings.editing import VIEW, edit_several
from apps.tenants import settings

FORMS: dict[str, type[SettingsForm]] = {"recharge": PaymentForm, "arrears": ArrearsForm, "alipay": AlipayForm}


@requires(VIEW)
@require_http_methods(["GET", "POST"])
def payment(request: StaffRequest) -> HttpResponse:
    found = settings.get(AlipaySettings)
    own = keys.public_of(found.private_key) if found.private_key else ""
    return edit_several(
        request,
        "settings_payment",
        FORMS,
        template="console/settings/payment.html",
        installed=is_installed(),
        alipay_on=found.is_ready,
        own_public_key=own,
        fingerprint=keys.fingerprint(own) if own else "",
        notify_url=request.build_absolute_uri(reverse("billing:alipay_notify")),
    )
