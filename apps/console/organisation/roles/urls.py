"""Routes of roles: pages and endpoints."""

from django.urls import path

from apps.console.organisation.roles import api, views

pages = [
    path("roles/", views.role_list, name="roles"),
    path("roles/new/", views.new, name="role_new"),
    path("roles/<uuid:role_id>/", views.detail, name="role"),
    path("roles/<uuid:role_id>/delete/", views.delete, name="role_delete"),
]

endpoints = [
    path("roles/", api.Roles.as_view()),
    path("roles/<uuid:role_id>/", api.RoleDetail.as_view()),
]
