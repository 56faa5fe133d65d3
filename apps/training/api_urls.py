"""The API of training."""

from django.urls import URLPattern

urlpatterns: list[URLPattern] = []
