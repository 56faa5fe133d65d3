"""Routes of terms: pages and endpoints."""

from django.urls import path

from apps.console.people.terms import api, pull_sources, registry, run_times, views

pages = [
    path("organisations/<uuid:organisation_id>/quotas/", views.quotas, name="organisation_quotas"),
    path("organisations/<uuid:organisation_id>/packages/", views.packages, name="organisation_packages"),
    path("organisations/<uuid:organisation_id>/terms/", views.terms, name="organisation_terms"),
    path("organisations/<uuid:organisation_id>/run-times/", run_times.run_times, name="organisation_run_times"),
    path("organisations/<uuid:organisation_id>/registry/", registry.capacity, name="organisation_registry"),
    path(
        "organisations/<uuid:organisation_id>/pull-sources/",
        pull_sources.pull_sources,
        name="organisation_pull_sources",
    ),
    path("organisations/<uuid:organisation_id>/guarantees/", views.guarantees, name="organisation_guarantees"),
]

endpoints = [
    path("organisations/<uuid:organisation_id>/quotas/", api.Quotas.as_view()),
    path("organisations/<uuid:organisation_id>/run-times/", run_times.RunTimes.as_view()),
    path("organisations/<uuid:organisation_id>/registry-capacity/", registry.OrganisationCapacity.as_view()),
    path("organisations/<uuid:organisation_id>/pull-sources/", pull_sources.OrganisationPullSources.as_view()),
    path("organisations/<uuid:organisation_id>/packages/", api.OrganisationPackages.as_view()),
    path("organisations/<uuid:organisation_id>/weight/", api.OrganisationWeight.as_view()),
    path("organisations/<uuid:organisation_id>/credit-limit/", api.OrganisationCredit.as_view()),
]
