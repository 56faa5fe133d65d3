"""The endpoints of the reconciliation with Alipay and of its refunds."""

from django.urls import path

from apps.console.api import reconciliation, refunds

DAY = "reconciliation/days/<str:bill_day>"
ITEM = "reconciliation/items/<int:bill_item_id>"

urlpatterns = [
    path("reconciliation/days/", reconciliation.BillDays.as_view()),
    path(f"{DAY}/", reconciliation.BillDayDetail.as_view()),
    path(f"{DAY}/fetch/", reconciliation.BillDayFetch.as_view()),
    path(f"{DAY}/bills/", reconciliation.BillDayBills.as_view()),
    path(f"{DAY}/credit/", reconciliation.BillDayCredit.as_view()),
    path("reconciliation/items/", reconciliation.BillItems.as_view()),
    path(f"{ITEM}/", reconciliation.BillItemDetail.as_view()),
    path(f"{ITEM}/ask/", reconciliation.BillItemAsk.as_view()),
    path(f"{ITEM}/credit/", reconciliation.BillItemCredit.as_view()),
    path(f"{ITEM}/take-out/", reconciliation.BillItemTakeOut.as_view()),
    path(f"{ITEM}/close/", reconciliation.BillItemClose.as_view()),
    path("recharges/<int:transfer_id>/refunds/", refunds.RechargeRefunds.as_view()),
    path("refunds/<slug:out_request_no>/ask/", refunds.RefundAsk.as_view()),
]
