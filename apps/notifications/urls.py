"""The page of notices."""

from django.urls import path

from apps.notifications import views

app_name = "notifications"

urlpatterns = [
    path("", views.notice_list, name="list"),
    path("read/", views.read_all, name="read_all"),
    path("<int:notice_id>/read/", views.read, name="read"),
]
