"""Routes of audit: pages and endpoints."""

from django.urls import path

from apps.console.audit import api, views

pages = [
    path("audit/", views.log, name="audit"),
    path("audit/export/", views.export, name="audit_export"),
    path("audit/money/", views.money_log, name="money_audit"),
    path("audit/money/export/", views.money_export, name="money_audit_export"),
]

endpoints = [
    path("audit/", api.Entries.as_view()),
    path("audit/money/", api.MoneyEntries.as_view()),
]
