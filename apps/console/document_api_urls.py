"""The staff's API of files: exports."""

from django.urls import path

from apps.billing import exports_api

urlpatterns = [
    path("exports/", exports_api.StaffExports.as_view()),
    path("exports/<uuid:export_id>/", exports_api.StaffExportDetail.as_view()),
    path("exports/<uuid:export_id>/cancel/", exports_api.StaffExportCancel.as_view()),
    path("exports/<uuid:export_id>/file/", exports_api.StaffExportContent.as_view()),
]
