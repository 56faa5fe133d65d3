"""No pages: the soak calls services."""

from django.urls import URLPattern

app_name = "soak-serving"
urlpatterns: list[URLPattern] = []
