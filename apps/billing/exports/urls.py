"""Routes of exports: pages and endpoints."""

from django.urls import path

from apps.billing.exports import api, direct, views

pages = [
    path("consumption/export/", direct.export, name="export"),
    path("exports/", views.exports, name="exports"),
    path("exports/list/", views.export_list, name="export_list"),
    path("exports/<uuid:export_id>/cancel/", views.cancel, name="export_cancel"),
    path("exports/<uuid:export_id>/file/", views.download, name="export_download"),
]

endpoints = [
    path("exports/", api.Exports.as_view(), name="api-exports"),
    path("exports/<uuid:export_id>/", api.ExportDetail.as_view(), name="api-export"),
    path("exports/<uuid:export_id>/cancel/", api.ExportCancel.as_view(), name="api-export-cancel"),
    path("exports/<uuid:export_id>/file/", api.ExportContent.as_view(), name="api-export-file"),
]
