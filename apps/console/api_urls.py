"""The console's API."""

from django.urls import URLPattern

urlpatterns: list[URLPattern] = []
