"""Routes of invoices and their titles: pages and endpoints."""

from django.urls import path

from apps.billing.invoices import api, title_views, views

pages = [
    path("invoices/", views.invoices, name="invoices"),
    path("invoices/new/", views.new, name="invoice_new"),
    path("invoices/titles/new/", title_views.new, name="invoice_title_new"),
    path("invoices/titles/<uuid:title_id>/", title_views.edit, name="invoice_title_edit"),
    path("invoices/titles/<uuid:title_id>/remove/", title_views.remove, name="invoice_title_remove"),
    path("invoices/files/<int:file_id>/", views.file, name="invoice_file"),
    path("invoices/<uuid:invoice_id>/", views.detail, name="invoice"),
    path("invoices/<uuid:invoice_id>/withdraw/", views.withdraw, name="invoice_withdraw"),
]

endpoints = [
    path("invoice-titles/", api.Titles.as_view(), name="api-invoice-titles"),
    path("invoice-titles/<uuid:title_id>/", api.TitleDetail.as_view(), name="api-invoice-title"),
    path("invoices/", api.Invoices.as_view(), name="api-invoices"),
    path("invoices/room/", api.InvoiceRoom.as_view(), name="api-invoice-room"),
    path("invoices/files/<int:file_id>/", api.InvoiceContent.as_view(), name="api-invoice-file"),
    path("invoices/<uuid:invoice_id>/", api.InvoiceDetail.as_view(), name="api-invoice"),
    path("invoices/<uuid:invoice_id>/withdraw/", api.InvoiceWithdraw.as_view(), name="api-invoice-withdraw"),
]
