"""Where an invitation's link leads."""

from django.urls import path

from apps.console.organisation.joining import views

app_name = "joining"

urlpatterns = [
    path("<str:token>/", views.invitation, name="invitation"),
    path("<str:token>/accept/", views.accept, name="accept"),
]
