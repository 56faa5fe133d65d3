"""The settings page of payments."""

from django.http import HttpResponse
from django.views.decorators.http import require_http_methods

from apps.common.access import requires
from apps.console.forms.settings.payment import PaymentForm
from apps.console.requests import StaffRequest
from apps.console.settings.editing import VIEW, edit


@requires(VIEW)
@require_http_methods(["GET", "POST"])
def payment(request: StaffRequest) -> HttpResponse:
    return edit(request, "settings_payment", PaymentForm, template="console/settings/payment.html")
