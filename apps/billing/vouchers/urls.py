"""Routes of vouchers: pages and endpoints."""

from django.urls import path

from apps.billing.vouchers import api, views

pages = [
    path("vouchers/", views.voucher_list, name="vouchers"),
]

endpoints = [
    path("vouchers/", api.Vouchers.as_view(), name="api-vouchers"),
    path("vouchers/<int:voucher_id>/", api.VoucherDetail.as_view(), name="api-voucher"),
]
