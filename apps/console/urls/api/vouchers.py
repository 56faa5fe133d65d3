"""The API of vouchers, discounts and the price of storage."""

from django.urls import path

from apps.console.api import discounts, vouchers

urlpatterns = [
    path("vouchers/", vouchers.Vouchers.as_view()),
    path("vouchers/<int:voucher_id>/", vouchers.VoucherDetail.as_view()),
    path("vouchers/<int:voucher_id>/void/", vouchers.VoucherVoid.as_view()),
    path("discounts/", discounts.Discounts.as_view()),
    path("discounts/<int:discount_id>/end/", discounts.DiscountEnd.as_view()),
    path("storage-price/", discounts.StoragePrices.as_view()),
]
