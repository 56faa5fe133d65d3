"""Routes of quotas: pages and endpoints."""

from django.urls import path

from apps.console.organisation.quotas import api, views

pages = [
    path("quotas/", views.whole, name="quotas"),
    path("quotas/holders/", views.holders, name="quota_holders"),
    path("quotas/departments/<uuid:department_id>/", views.of_department, name="quota_department"),
    path("quotas/people/<int:user_id>/", views.of_person, name="quota_person"),
]

endpoints = [
    path("quotas/", api.OrganisationQuotas.as_view()),
    path("run-times/", api.OrganisationRunTimes.as_view()),
]
