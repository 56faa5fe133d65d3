"""The portal's overview."""

from django.urls import path

from apps.console import portal_views

app_name = "portal"

urlpatterns = [
    path("", portal_views.overview, name="overview"),
    path("overview/free/", portal_views.free, name="free"),
]
