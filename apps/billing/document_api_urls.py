"""The API of costs, and of files and papers: exports, invoices."""

from django.urls import path

from apps.billing import costs_api
from apps.billing.exports import api as exports_api
from apps.billing.invoices import api as invoices_api

urlpatterns = [
    path("consumption/costs/", costs_api.CostList.as_view(), name="api-consumption-costs"),
    path("exports/", exports_api.Exports.as_view(), name="api-exports"),
    path("exports/<uuid:export_id>/", exports_api.ExportDetail.as_view(), name="api-export"),
    path("exports/<uuid:export_id>/cancel/", exports_api.ExportCancel.as_view(), name="api-export-cancel"),
    path("exports/<uuid:export_id>/file/", exports_api.ExportContent.as_view(), name="api-export-file"),
    path("invoice-titles/", invoices_api.Titles.as_view(), name="api-invoice-titles"),
    path("invoice-titles/<uuid:title_id>/", invoices_api.TitleDetail.as_view(), name="api-invoice-title"),
    path("invoices/", invoices_api.Invoices.as_view(), name="api-invoices"),
    path("invoices/room/", invoices_api.InvoiceRoom.as_view(), name="api-invoice-room"),
    path("invoices/files/<int:file_id>/", invoices_api.InvoiceContent.as_view(), name="api-invoice-file"),
    path("invoices/<uuid:invoice_id>/", invoices_api.InvoiceDetail.as_view(), name="api-invoice"),
    path("invoices/<uuid:invoice_id>/withdraw/", invoices_api.InvoiceWithdraw.as_view(), name="api-invoice-withdraw"),
]
