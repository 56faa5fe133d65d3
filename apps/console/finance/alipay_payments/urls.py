"""Routes of payments by Alipay: pages and endpoints."""

from django.urls import path

from apps.console.finance.alipay_payments import api, views

pages = [
    path("alipay-payments/", views.payment_list, name="alipay_payments"),
    path("alipay-payments/<slug:out_trade_no>/", views.detail, name="alipay_payment"),
    path("alipay-payments/<slug:out_trade_no>/ask/", views.ask, name="alipay_payment_ask"),
]

endpoints = [
    path("alipay-payments/", api.AlipayPayments.as_view()),
    path("alipay-payments/<slug:out_trade_no>/", api.AlipayPaymentDetail.as_view()),
    path("alipay-payments/<slug:out_trade_no>/ask/", api.AlipayPaymentAsk.as_view()),
]
