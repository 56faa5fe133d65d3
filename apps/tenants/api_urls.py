"""The API of people and organisations."""

from django.urls import URLPattern

urlpatterns: list[URLPattern] = []
