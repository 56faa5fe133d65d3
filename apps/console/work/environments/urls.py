"""Routes of environments: pages and endpoints."""

from django.urls import path

from apps.console.work.environments import api, views

pages = [
    path("environments/bulk/", views.bulk_act, name="environments_bulk"),
    path("environments/", views.environment_list, name="environments"),
    path("environments/<uuid:environment_id>/<slug:name>/", views.act, name="environment_act"),
]

endpoints = [
    path("environments/", api.Environments.as_view()),
    path("environments/<uuid:environment_id>/stop/", api.EnvironmentStop.as_view()),
    path("environments/<uuid:environment_id>/recycle/", api.EnvironmentRecycle.as_view()),
    path("environments/<uuid:environment_id>/restore/", api.EnvironmentRestore.as_view()),
    path("environments/<uuid:environment_id>/purge/", api.EnvironmentPurge.as_view()),
]
