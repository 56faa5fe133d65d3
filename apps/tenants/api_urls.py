"""The API of people and organisations."""

from django.urls import path

from apps.tenants.api import me

urlpatterns = [
    path("me/", me.MeView.as_view(), name="api-me"),
]
