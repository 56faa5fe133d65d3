"""Where Alipay and the browser come back to."""

from django.http import HttpRequest
from django.urls import reverse

from apps.billing.payments.alipay import orders


def addresses(request: HttpRequest) -> orders.Addresses:
    """Where the gateway and the browser come back to, as this request reached us."""
    return orders.Addresses(
        request.build_absolute_uri(reverse("billing:alipay_notify")),
        request.build_absolute_uri(reverse("billing:top_up_back")),
    )
