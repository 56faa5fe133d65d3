"""Pages of the reconciliation with Alipay, and of its refunds."""

from django.urls import path

from apps.console.views import reconciliation, reconciliation_items, refunds

DAY = "reconciliation/<str:bill_day>"
ITEM = "reconciliation/items/<int:bill_item_id>"

urlpatterns = [
    path("reconciliation/", reconciliation.overview, name="reconciliation"),
    path(f"{ITEM}/", reconciliation_items.detail, name="reconciliation_item"),
    path(f"{ITEM}/close/", reconciliation_items.close, name="reconciliation_close"),
    path(f"{ITEM}/<slug:name>/", reconciliation_items.act, name="reconciliation_act"),
    path("reconciliation/bills/<int:alipay_bill_id>/", reconciliation.bill, name="reconciliation_bill"),
    path(f"{DAY}/", reconciliation.day, name="reconciliation_day"),
    path(f"{DAY}/fetch/", reconciliation.fetch, name="reconciliation_fetch"),
    path(f"{DAY}/upload/", reconciliation.upload, name="reconciliation_upload"),
    path(f"{DAY}/credit/", reconciliation.credit, name="reconciliation_credit"),
    path("recharges/<int:transfer_id>/refund/", refunds.new, name="recharge_refund"),
    path("recharges/refunds/<slug:out_request_no>/", refunds.ask, name="recharge_refund_ask"),
]
