"""Pages of builds."""

from django.urls import path

from apps.builds.views import cache, create
from apps.builds.views.detail import BuildPages

app_name = "builds"

urlpatterns = [
    path("new/", create.new, name="new"),
    path("preview/", create.preview, name="preview"),
    path("quote/", create.quote, name="quote"),
    path("cache/empty/", cache.empty, name="empty_cache"),
    path("files/", create.upload, name="upload"),
    *BuildPages().urls(),
]
