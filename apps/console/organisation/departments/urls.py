"""Routes of departments: pages and endpoints."""

from django.urls import path

from apps.console.organisation.departments import api, views

pages = [
    path("departments/", views.top, name="departments"),
    path("departments/new/", views.new, name="department_new"),
    path("departments/<uuid:department_id>/", views.detail, name="department"),
    path("departments/<uuid:department_id>/edit/", views.edit, name="department_edit"),
    path("departments/<uuid:department_id>/delete/", views.delete, name="department_delete"),
]

endpoints = [
    path("departments/", api.Departments.as_view()),
    path("departments/<uuid:department_id>/", api.DepartmentDetail.as_view()),
]
