"""Routes of accelerators: pages and endpoints."""

from django.urls import path

from apps.console.hardware.accelerators import api, resets, views

pages = [
    path("accelerators/", views.card_list, name="accelerators"),
    path("accelerators/<uuid:card_id>/mode/", views.mode, name="accelerator_mode"),
    path("accelerators/<uuid:card_id>/reset/", resets.reset, name="accelerator_reset"),
]

endpoints = [
    path("accelerators/", api.Accelerators.as_view()),
    path("accelerators/<uuid:card_id>/", api.AcceleratorDetail.as_view()),
    path("accelerators/<uuid:card_id>/mode/", api.AcceleratorSwitch.as_view()),
    path("accelerators/<uuid:card_id>/reset/", api.AcceleratorReset.as_view()),
]
