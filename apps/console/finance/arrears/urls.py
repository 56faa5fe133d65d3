"""Routes of arrears: pages and endpoints."""

from django.urls import path

from apps.console.finance.arrears import api, views

pages = [
    path("arrears/", views.arrears_list, name="arrears"),
    path("organisations/<uuid:organisation_id>/arrears/", views.terms, name="organisation_arrears"),
    path("organisations/<uuid:organisation_id>/release/", views.release, name="organisation_release"),
]

endpoints = [
    path("organisations/<uuid:organisation_id>/arrears/", api.OrganisationArrears.as_view()),
    path("organisations/<uuid:organisation_id>/release/", api.ReleaseData.as_view()),
    path("arrears/", api.ArrearsList.as_view()),
]
