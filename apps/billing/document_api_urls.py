"""The API of files: exports."""

from django.urls import path

from apps.billing import exports_api

urlpatterns = [
    path("exports/", exports_api.Exports.as_view(), name="api-exports"),
    path("exports/<uuid:export_id>/", exports_api.ExportDetail.as_view(), name="api-export"),
    path("exports/<uuid:export_id>/cancel/", exports_api.ExportCancel.as_view(), name="api-export-cancel"),
    path("exports/<uuid:export_id>/file/", exports_api.ExportContent.as_view(), name="api-export-file"),
]
