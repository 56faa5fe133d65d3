"""Routes of an organisation's departments: pages and endpoints."""

from django.urls import path

from apps.console.people.departments import api, views

pages = [
    path("organisations/<uuid:organisation_id>/departments/", views.department_list, name="organisation_departments"),
]

endpoints = [
    path("organisations/<uuid:organisation_id>/departments/", api.Departments.as_view()),
]
