"""Pages about oneself."""

from django.urls import URLPattern

app_name = "account"
urlpatterns: list[URLPattern] = []
