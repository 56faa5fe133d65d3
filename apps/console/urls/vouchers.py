"""Pages of vouchers, discounts and the price of storage."""

from django.urls import path

from apps.console.views import discounts, storage_price, vouchers

urlpatterns = [
    path("vouchers/", vouchers.voucher_list, name="vouchers"),
    path("vouchers/new/", vouchers.new, name="voucher_new"),
    path("vouchers/<int:voucher_id>/", vouchers.detail, name="voucher"),
    path("vouchers/<int:voucher_id>/void/", vouchers.void, name="voucher_void"),
    path("discounts/", discounts.discount_list, name="discounts"),
    path("discounts/new/", discounts.new, name="discount_new"),
    path("discounts/<int:discount_id>/end/", discounts.end, name="discount_end"),
    path("storage-price/", storage_price.page, name="storage_price"),
]
