"""Routes of organisations: pages and endpoints."""

from django.urls import path

from apps.console.people.organisations import api, views

pages = [
    path("organisations/bulk/", views.bulk_act, name="organisations_bulk"),
    path("organisations/", views.organisation_list, name="organisations"),
    path("organisations/suggestions/", views.suggestions, name="organisation_suggestions"),
    path("organisations/new/", views.new, name="organisation_new"),
    path("organisations/<uuid:organisation_id>/", views.detail, name="organisation"),
    path("organisations/<uuid:organisation_id>/freeze/", views.freeze, name="organisation_freeze"),
    path("organisations/<uuid:organisation_id>/unfreeze/", views.unfreeze, name="organisation_unfreeze"),
]

endpoints = [
    path("organisations/", api.Organisations.as_view()),
    path("organisations/<uuid:organisation_id>/", api.OrganisationDetail.as_view()),
    path("organisations/<uuid:organisation_id>/freeze/", api.Freeze.as_view()),
    path("organisations/<uuid:organisation_id>/unfreeze/", api.Unfreeze.as_view()),
]
