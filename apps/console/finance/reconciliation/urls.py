"""Routes of reconciliation: pages and endpoints."""

from django.urls import path

from apps.console.finance.reconciliation import api, item_views, views

pages = [
    path("reconciliation/", views.overview, name="reconciliation"),
    path("reconciliation/items/<int:bill_item_id>/", item_views.detail, name="reconciliation_item"),
    path("reconciliation/items/<int:bill_item_id>/close/", item_views.close, name="reconciliation_close"),
    path("reconciliation/items/<int:bill_item_id>/<slug:name>/", item_views.act, name="reconciliation_act"),
    path("reconciliation/bills/<int:alipay_bill_id>/", views.bill, name="reconciliation_bill"),
    path("reconciliation/upload/", views.upload_any, name="reconciliation_upload_any"),
    path("reconciliation/<str:bill_day>/", views.day, name="reconciliation_day"),
    path("reconciliation/<str:bill_day>/fetch/", views.fetch, name="reconciliation_fetch"),
    path("reconciliation/<str:bill_day>/upload/", views.upload, name="reconciliation_upload"),
    path("reconciliation/<str:bill_day>/credit/", views.credit, name="reconciliation_credit"),
]

endpoints = [
    path("reconciliation/days/", api.BillDays.as_view()),
    path("reconciliation/days/<str:bill_day>/", api.BillDayDetail.as_view()),
    path("reconciliation/days/<str:bill_day>/fetch/", api.BillDayFetch.as_view()),
    path("reconciliation/days/<str:bill_day>/bills/", api.BillDayBills.as_view()),
    path("reconciliation/days/<str:bill_day>/credit/", api.BillDayCredit.as_view()),
    path("reconciliation/items/", api.BillItems.as_view()),
    path("reconciliation/items/<int:bill_item_id>/", api.BillItemDetail.as_view()),
    path("reconciliation/items/<int:bill_item_id>/ask/", api.BillItemAsk.as_view()),
    path("reconciliation/items/<int:bill_item_id>/credit/", api.BillItemCredit.as_view()),
    path("reconciliation/items/<int:bill_item_id>/take-out/", api.BillItemTakeOut.as_view()),
    path("reconciliation/items/<int:bill_item_id>/close/", api.BillItemClose.as_view()),
]
