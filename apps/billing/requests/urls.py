"""Routes of requests for packages: pages."""

from django.urls import path

from apps.billing.requests import views

pages = [
    path("packages/<int:package_id>/ask/", views.ask, name="ask"),
    path("packages/requests/<uuid:request_id>/withdraw/", views.withdraw, name="request_withdraw"),
]
