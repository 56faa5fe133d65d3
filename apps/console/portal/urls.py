"""The portal's overview."""

from django.urls import path

from apps.console.portal import views

app_name = "portal"

urlpatterns = [
    path("", views.overview, name="overview"),
    path("overview/free/", views.free, name="free"),
]
