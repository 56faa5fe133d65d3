"""The API of money."""

from django.urls import URLPattern

urlpatterns: list[URLPattern] = []
