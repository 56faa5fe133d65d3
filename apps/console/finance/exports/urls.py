"""Routes of exports: pages and endpoints."""

from django.urls import path

from apps.billing.exports import api
from apps.console.finance.exports import views

pages = [
    path("exports/", views.exports, name="exports"),
    path("exports/list/", views.export_list, name="export_list"),
    path("exports/<uuid:export_id>/cancel/", views.cancel, name="export_cancel"),
    path("exports/<uuid:export_id>/file/", views.download, name="export_download"),
]

endpoints = [
    path("exports/", api.StaffExports.as_view()),
    path("exports/<uuid:export_id>/", api.StaffExportDetail.as_view()),
    path("exports/<uuid:export_id>/cancel/", api.StaffExportCancel.as_view()),
    path("exports/<uuid:export_id>/file/", api.StaffExportContent.as_view()),
]
