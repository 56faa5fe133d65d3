"""The API of people and organisations."""

from django.urls import path

from apps.tenants import api

urlpatterns = [
    path("me/", api.MeView.as_view(), name="api-me"),
]
