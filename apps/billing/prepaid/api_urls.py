"""The API of prepaid time."""

from django.urls import path

from apps.billing.prepaid import api

ORDER = "prepaid/orders/<uuid:prepaid_order_id>"

urlpatterns = [
    path("prepaid/offers/", api.PrepaidOffers.as_view(), name="api-prepaid-offers"),
    path("prepaid/quote/", api.PrepaidQuoteView.as_view(), name="api-prepaid-quote"),
    path("prepaid/orders/", api.PrepaidOrders.as_view(), name="api-prepaid-orders"),
    path(f"{ORDER}/", api.PrepaidOrderDetail.as_view(), name="api-prepaid-order"),
    path(f"{ORDER}/renew/", api.PrepaidRenew.as_view(), name="api-prepaid-renew"),
    path(f"{ORDER}/change/", api.PrepaidChange.as_view(), name="api-prepaid-change"),
    path(f"{ORDER}/give-back/", api.PrepaidGiveBack.as_view(), name="api-prepaid-give-back"),
]
