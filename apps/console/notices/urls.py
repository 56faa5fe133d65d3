"""Routes of notices: pages."""

from django.urls import path

from apps.console.notices import views

pages = [
    path("notices/", views.notice_list, name="notices"),
    path("notices/bell/", views.bell, name="bell"),
    path("notices/read/", views.read_all, name="notices_read"),
    path("notices/<int:notice_id>/read/", views.read, name="notice_read"),
]
