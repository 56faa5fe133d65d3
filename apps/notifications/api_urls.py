"""The API of notices."""

from django.urls import path

from apps.notifications import api

urlpatterns = [
    path("notices/", api.NoticeList.as_view(), name="api-notices"),
    path("notices/read/", api.ReadView.as_view(), name="api-notices-read"),
]
