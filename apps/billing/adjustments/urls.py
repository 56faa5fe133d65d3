"""Routes of adjustments: endpoints."""

from django.urls import path

from apps.billing.adjustments import api

endpoints = [
    path("adjustments/", api.AdjustmentList.as_view(), name="api-adjustments"),
]
