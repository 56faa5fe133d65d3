"""Pages of boards."""

from django.urls import path

from apps.boards.views import opening
from apps.boards.views.detail import BoardPages

app_name = "boards"

urlpatterns = [
    path("new/", opening.new, name="new"),
    path("choose/", opening.choose, name="choose"),
    *BoardPages().urls(),
]
