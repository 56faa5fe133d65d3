"""Routes of adjustments: pages and endpoints."""

from django.urls import path

from apps.console.finance.adjustments import api, views

pages = [
    path("adjustments/", views.adjustment_list, name="adjustments"),
    path("adjustments/new/", views.new, name="adjustment_new"),
    path("adjustments/create/", views.create, name="adjustment_create"),
]

endpoints = [
    path("adjustments/", api.Adjustments.as_view()),
]
