"""Routes of the organisation's statements: pages and endpoints."""

from django.urls import path

from apps.billing.statements import api, views

pages = [
    path("bills/", views.bills, name="bills"),
    path("bills/<uuid:statement_id>/", views.bill, name="bill"),
    path("bills/<uuid:statement_id>/lines/<int:position>/", views.bill_line, name="bill_line"),
]

endpoints = [
    path("statements/", api.StatementList.as_view(), name="api-statements"),
    path("statements/<uuid:statement_id>/", api.StatementDetail.as_view(), name="api-statement"),
]
