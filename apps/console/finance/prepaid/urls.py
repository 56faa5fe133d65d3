"""Routes of prepaid: pages and endpoints."""

from django.urls import path

from apps.console.finance.prepaid import api, views

pages = [
    path("prepaid/", views.order_list, name="prepaid"),
    path("prepaid/<uuid:prepaid_order_id>/", views.detail, name="prepaid_order"),
    path("prepaid/<uuid:prepaid_order_id>/give-back/", views.give_back, name="prepaid_order_give_back"),
    path("packages/<int:package_id>/terms/", views.terms, name="package_terms"),
]

endpoints = [
    path("prepaid-orders/", api.PrepaidOrders.as_view(), name="api-console-prepaid-orders"),
    path("prepaid-orders/<uuid:prepaid_order_id>/", api.PrepaidOrderDetail.as_view(), name="api-console-prepaid-order"),
    path(
        "prepaid-orders/<uuid:prepaid_order_id>/give-back/",
        api.PrepaidGiveBack.as_view(),
        name="api-console-prepaid-give-back",
    ),
    path("packages/<int:package_id>/term-prices/", api.TermPrices.as_view(), name="api-console-term-prices"),
    path("packages/<int:package_id>/term-prices/preview/", api.TermPricePreview.as_view()),
]
