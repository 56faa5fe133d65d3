"""Routes of vouchers: pages and endpoints."""

from django.urls import path

from apps.console.finance.vouchers import api, views

pages = [
    path("vouchers/", views.voucher_list, name="vouchers"),
    path("vouchers/new/", views.new, name="voucher_new"),
    path("vouchers/<int:voucher_id>/", views.detail, name="voucher"),
    path("vouchers/<int:voucher_id>/void/", views.void, name="voucher_void"),
]

endpoints = [
    path("vouchers/", api.Vouchers.as_view()),
    path("vouchers/<int:voucher_id>/", api.VoucherDetail.as_view()),
    path("vouchers/<int:voucher_id>/void/", api.VoucherVoid.as_view()),
]
