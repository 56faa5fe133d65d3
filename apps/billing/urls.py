"""Billing pages of the portal."""

from django.urls import URLPattern

app_name = "billing"
urlpatterns: list[URLPattern] = []
