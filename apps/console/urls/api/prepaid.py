"""The console's API of prepaid time."""

from django.urls import path

from apps.console.api import prepaid

ORDER = "prepaid-orders/<uuid:prepaid_order_id>"

urlpatterns = [
    path("prepaid-orders/", prepaid.PrepaidOrders.as_view(), name="api-console-prepaid-orders"),
    path(f"{ORDER}/", prepaid.PrepaidOrderDetail.as_view(), name="api-console-prepaid-order"),
    path(f"{ORDER}/give-back/", prepaid.PrepaidGiveBack.as_view(), name="api-console-prepaid-give-back"),
    path(
        "packages/<int:package_id>/term-prices/",
        prepaid.TermPrices.as_view(),
        name="api-console-term-prices",
    ),
]
