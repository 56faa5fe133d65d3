"""Routes of consumption: pages and endpoints."""

from django.urls import path

from apps.console.finance.consumption import api, views

pages = [
    path("consumption/", views.page, name="consumption"),
    path("consumption/days/", views.days, name="consumption_days"),
    path("consumption/agreement/", views.agreement, name="consumption_agreement"),
]

endpoints = [
    path("organisations/<uuid:organisation_id>/consumption/", api.WorkloadTotals.as_view()),
    path("consumption/", api.OrganisationTotals.as_view()),
    path("charges/", api.Charges.as_view()),
]
