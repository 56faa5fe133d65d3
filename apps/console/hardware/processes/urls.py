"""Routes of processes: pages and endpoints."""

from django.urls import path

from apps.console.hardware.processes import api, views

pages = [
    path("processes/", views.process_list, name="processes"),
]

endpoints = [
    path("processes/", api.Processes.as_view()),
    path("processes/replacements/", api.Replacements.as_view()),
]
