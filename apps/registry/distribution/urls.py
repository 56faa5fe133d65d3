"""Beside the registry's own protocol, under its address."""

from django.urls import path

from apps.registry.distribution import events, views

app_name = "distribution"

urlpatterns = [
    path("token", views.token, name="token"),
    path("events", events.hear, name="events"),
]
