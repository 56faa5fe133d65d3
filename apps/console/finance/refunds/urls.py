"""Routes of refunds: pages and endpoints."""

from django.urls import path

from apps.console.finance.refunds import api, views

pages = [
    path("recharges/<int:transfer_id>/refund/", views.new, name="recharge_refund"),
    path("recharges/refunds/<slug:out_request_no>/", views.ask, name="recharge_refund_ask"),
]

endpoints = [
    path("recharges/<int:transfer_id>/refunds/", api.RechargeRefunds.as_view()),
    path("refunds/<slug:out_request_no>/ask/", api.RefundAsk.as_view()),
]
