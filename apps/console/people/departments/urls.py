"""Routes of an organisation's departments: pages and endpoints."""

from django.urls import path

from apps.console.people.departments import api, views

BASE = "organisations/<uuid:organisation_id>/departments/"
ONE = f"{BASE}<uuid:department_id>/"

pages = [
    path(BASE, views.department_list, name="organisation_departments"),
    path(f"{BASE}new/", views.department_new, name="organisation_department_new"),
    path(ONE, views.department, name="organisation_department"),
    path(f"{ONE}delete/", views.department_delete, name="organisation_department_delete"),
]

endpoints = [
    path(BASE, api.Departments.as_view()),
    path(ONE, api.DepartmentDetail.as_view()),
]
