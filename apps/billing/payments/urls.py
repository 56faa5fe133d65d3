"""Routes of payments by Alipay: pages and endpoints."""

from django.urls import path

from apps.billing.payments import api, views

pages = [
    path("top-up/", views.new, name="top_up"),
    path("top-up/back/", views.back, name="top_up_back"),
    path("top-up/<slug:out_trade_no>/", views.order, name="top_up_order"),
    path("top-up/<slug:out_trade_no>/ask/", views.ask, name="top_up_ask"),
    path("top-up/<slug:out_trade_no>/cancel/", views.cancel, name="top_up_cancel"),
    path("alipay/notify/", views.notify, name="alipay_notify"),
]

endpoints = [
    path("top-ups/", api.TopUps.as_view(), name="api-top-ups"),
    path("top-ups/<slug:out_trade_no>/", api.TopUpDetail.as_view(), name="api-top-up"),
    path("top-ups/<slug:out_trade_no>/cancel/", api.TopUpCancel.as_view(), name="api-top-up-cancel"),
]
