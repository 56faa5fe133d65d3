"""Routes of recharges: endpoints."""

from django.urls import path

from apps.billing.recharges import api

endpoints = [
    path("recharges/", api.RechargeList.as_view(), name="api-recharges"),
]
