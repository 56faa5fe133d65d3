"""The staff's API of files and papers: exports, invoices."""

from django.urls import path

from apps.billing.exports import api as exports_api
from apps.console.api import invoices

urlpatterns = [
    path("exports/", exports_api.StaffExports.as_view()),
    path("exports/<uuid:export_id>/", exports_api.StaffExportDetail.as_view()),
    path("exports/<uuid:export_id>/cancel/", exports_api.StaffExportCancel.as_view()),
    path("exports/<uuid:export_id>/file/", exports_api.StaffExportContent.as_view()),
    path("invoices/", invoices.StaffInvoices.as_view()),
    path("invoices/files/<int:file_id>/", invoices.StaffInvoiceContent.as_view()),
    path("invoices/<uuid:invoice_id>/", invoices.StaffInvoiceDetail.as_view()),
    path("invoices/<uuid:invoice_id>/approve/", invoices.InvoiceApprove.as_view()),
    path("invoices/<uuid:invoice_id>/deny/", invoices.InvoiceDeny.as_view()),
    path("invoices/<uuid:invoice_id>/issue/", invoices.InvoiceIssue.as_view()),
    path("invoices/<uuid:invoice_id>/void/", invoices.InvoiceVoid.as_view()),
]
