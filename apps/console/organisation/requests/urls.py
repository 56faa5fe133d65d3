"""Routes of requests for packages: pages."""

from django.urls import path

from apps.console.organisation.requests import views

pages = [
    path("requests/", views.request_list, name="requests"),
    path("requests/act/", views.act, name="request_act"),
    path("requests/<uuid:request_id>/deny/", views.deny, name="request_deny"),
]
