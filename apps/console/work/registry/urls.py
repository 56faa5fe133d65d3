"""Routes of the registry: pages and endpoints."""

from django.urls import path

from apps.console.work.registry import api, views

pages = [
    path("registry/", views.registry, name="registry"),
    path("registry/collect/", views.collect, name="registry_collect"),
]

endpoints = [
    path("registry/collections/", api.Collections.as_view()),
]
