"""Pages of costs, and of files and papers: exports, invoices."""

from django.urls import path

from apps.billing.exports import views as exports
from apps.billing.invoices import title_views as invoice_titles
from apps.billing.invoices import views as invoices
from apps.billing.views import costs

urlpatterns = [
    path("consumption/costs/", costs.page, name="consumption_costs"),
    path("consumption/costs/series/", costs.series, name="consumption_costs_series"),
    path("consumption/costs/export/", costs.export, name="consumption_costs_export"),
    path("exports/", exports.exports, name="exports"),
    path("exports/<uuid:export_id>/cancel/", exports.cancel, name="export_cancel"),
    path("exports/<uuid:export_id>/file/", exports.download, name="export_download"),
    path("invoices/", invoices.invoices, name="invoices"),
    path("invoices/new/", invoices.new, name="invoice_new"),
    path("invoices/titles/new/", invoice_titles.new, name="invoice_title_new"),
    path("invoices/titles/<uuid:title_id>/", invoice_titles.edit, name="invoice_title_edit"),
    path("invoices/titles/<uuid:title_id>/remove/", invoice_titles.remove, name="invoice_title_remove"),
    path("invoices/files/<int:file_id>/", invoices.file, name="invoice_file"),
    path("invoices/<uuid:invoice_id>/", invoices.detail, name="invoice"),
    path("invoices/<uuid:invoice_id>/withdraw/", invoices.withdraw, name="invoice_withdraw"),
]
