"""The staff's pages of files: exports."""

from django.urls import path

from apps.console.views import exports

urlpatterns = [
    path("exports/", exports.exports, name="exports"),
    path("exports/<uuid:export_id>/cancel/", exports.cancel, name="export_cancel"),
    path("exports/<uuid:export_id>/file/", exports.download, name="export_download"),
]
