"""Routes of roles: pages."""

from django.urls import path

from apps.console.people.roles import views

pages = [
    path("roles/", views.role_list, name="roles"),
    path("roles/new/", views.new, name="role_new"),
    path("roles/<uuid:platform_role_id>/", views.detail, name="role"),
    path("roles/<uuid:platform_role_id>/delete/", views.delete, name="role_delete"),
]
