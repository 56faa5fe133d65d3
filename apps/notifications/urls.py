"""The page of notices."""

from django.urls import URLPattern

app_name = "notifications"
urlpatterns: list[URLPattern] = []
