"""The staff's pages of files and papers: exports, invoices."""

from django.urls import path

from apps.console.views import exports, invoices

urlpatterns = [
    path("exports/", exports.exports, name="exports"),
    path("exports/<uuid:export_id>/cancel/", exports.cancel, name="export_cancel"),
    path("exports/<uuid:export_id>/file/", exports.download, name="export_download"),
    path("invoices/", invoices.invoice_list, name="invoices"),
    path("invoices/files/<int:file_id>/", invoices.file, name="invoice_file"),
    path("invoices/<uuid:invoice_id>/", invoices.detail, name="invoice"),
    path("invoices/<uuid:invoice_id>/approve/", invoices.approve, name="invoice_approve"),
    path("invoices/<uuid:invoice_id>/deny/", invoices.deny, name="invoice_deny"),
    path("invoices/<uuid:invoice_id>/issue/", invoices.issue, name="invoice_issue"),
    path("invoices/<uuid:invoice_id>/void/", invoices.void, name="invoice_void"),
]
