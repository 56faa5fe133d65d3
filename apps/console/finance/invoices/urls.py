"""Routes of invoices: pages and endpoints."""

from django.urls import path

from apps.console.finance.invoices import api, views

pages = [
    path("invoices/", views.invoice_list, name="invoices"),
    path("invoices/files/<int:file_id>/", views.file, name="invoice_file"),
    path("invoices/<uuid:invoice_id>/", views.detail, name="invoice"),
    path("invoices/<uuid:invoice_id>/approve/", views.approve, name="invoice_approve"),
    path("invoices/<uuid:invoice_id>/deny/", views.deny, name="invoice_deny"),
    path("invoices/<uuid:invoice_id>/issue/", views.issue, name="invoice_issue"),
    path("invoices/<uuid:invoice_id>/void/", views.void, name="invoice_void"),
]

endpoints = [
    path("invoices/", api.StaffInvoices.as_view()),
    path("invoices/files/<int:file_id>/", api.StaffInvoiceContent.as_view()),
    path("invoices/<uuid:invoice_id>/", api.StaffInvoiceDetail.as_view()),
    path("invoices/<uuid:invoice_id>/approve/", api.InvoiceApprove.as_view()),
    path("invoices/<uuid:invoice_id>/deny/", api.InvoiceDeny.as_view()),
    path("invoices/<uuid:invoice_id>/issue/", api.InvoiceIssue.as_view()),
    path("invoices/<uuid:invoice_id>/void/", api.InvoiceVoid.as_view()),
]
