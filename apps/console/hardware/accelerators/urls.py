"""Routes of accelerators: pages and endpoints."""

from django.urls import path

from apps.console.hardware.accelerators import api, views

pages = [
    path("accelerators/", views.card_list, name="accelerators"),
    path("accelerators/<uuid:card_id>/mode/", views.mode, name="accelerator_mode"),
]

endpoints = [
    path("accelerators/", api.Accelerators.as_view()),
    path("accelerators/<uuid:card_id>/", api.AcceleratorDetail.as_view()),
    path("accelerators/<uuid:card_id>/mode/", api.AcceleratorSwitch.as_view()),
]
