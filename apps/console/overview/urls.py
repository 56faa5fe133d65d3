"""Routes of overview: pages and endpoints."""

from django.urls import path

from apps.console.overview import api, views

pages = [
    path("", views.page, name="overview"),
]

endpoints = [
    path("overview/", api.Overview.as_view()),
]
