"""Routes of prepaid time: pages and endpoints."""

from django.urls import path

from apps.billing.prepaid import api, order_views, views

pages = [
    path("prepaid/", views.order_list, name="prepaid"),
    path("prepaid/new/", views.new, name="prepaid_new"),
    path("prepaid/quote/", views.quote, name="prepaid_quote"),
    path("prepaid/<uuid:prepaid_order_id>/", order_views.order, name="prepaid_order"),
    path("prepaid/<uuid:prepaid_order_id>/renew/", order_views.renew, name="prepaid_renew"),
    path("prepaid/<uuid:prepaid_order_id>/renewal/", order_views.settings, name="prepaid_settings"),
    path("prepaid/<uuid:prepaid_order_id>/change/", order_views.change, name="prepaid_change"),
    path("prepaid/<uuid:prepaid_order_id>/give-back/", order_views.give_back, name="prepaid_give_back"),
]

endpoints = [
    path("prepaid/offers/", api.PrepaidOffers.as_view(), name="api-prepaid-offers"),
    path("prepaid/quote/", api.PrepaidQuoteView.as_view(), name="api-prepaid-quote"),
    path("prepaid/orders/", api.PrepaidOrders.as_view(), name="api-prepaid-orders"),
    path("prepaid/orders/<uuid:prepaid_order_id>/", api.PrepaidOrderDetail.as_view(), name="api-prepaid-order"),
    path("prepaid/orders/<uuid:prepaid_order_id>/renew/", api.PrepaidRenew.as_view(), name="api-prepaid-renew"),
    path("prepaid/orders/<uuid:prepaid_order_id>/change/", api.PrepaidChange.as_view(), name="api-prepaid-change"),
    path(
        "prepaid/orders/<uuid:prepaid_order_id>/give-back/", api.PrepaidGiveBack.as_view(), name="api-prepaid-give-back"
    ),
]
