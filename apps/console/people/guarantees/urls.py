"""Routes of guarantees: endpoints."""

from django.urls import path

from apps.console.people.guarantees import api

endpoints = [
    path("organisations/<uuid:organisation_id>/guarantees/", api.Guarantees.as_view()),
]
