"""Routes of an organisation's own roles: pages and endpoints."""

from django.urls import path

from apps.console.people.own_roles import api, views

BASE = "organisations/<uuid:organisation_id>/roles/"
ONE = f"{BASE}<uuid:role_id>/"

pages = [
    path(BASE, views.role_list, name="organisation_roles"),
    path(f"{BASE}new/", views.role_new, name="organisation_role_new"),
    path(ONE, views.role_detail, name="organisation_role"),
    path(f"{ONE}delete/", views.role_delete, name="organisation_role_delete"),
]

endpoints = [
    path(BASE, api.Roles.as_view()),
    path(ONE, api.RoleDetail.as_view()),
]
