"""Routes of requests: pages and endpoints."""

from django.urls import path

from apps.console.people.requests import api, views

pages = [
    path("package-requests/", views.request_list, name="requests"),
    path("package-requests/act/", views.act, name="request_act"),
    path("package-requests/<uuid:request_id>/deny/", views.deny, name="request_deny"),
]

endpoints = [
    path("package-requests/", api.ConsoleRequests.as_view()),
    path("package-requests/<uuid:request_id>/approve/", api.ConsoleApprove.as_view()),
    path("package-requests/<uuid:request_id>/deny/", api.ConsoleDeny.as_view()),
]

organisation_endpoints = [
    path("", api.PackageRequests.as_view()),
    path("<uuid:request_id>/withdraw/", api.PackageRequestWithdraw.as_view()),
    path("<uuid:request_id>/approve/", api.PackageRequestApprove.as_view()),
    path("<uuid:request_id>/deny/", api.PackageRequestDeny.as_view()),
]
