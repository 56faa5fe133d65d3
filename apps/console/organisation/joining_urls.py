"""Where an invitation's link leads."""

from django.urls import path

from apps.console.organisation import joining

app_name = "joining"

urlpatterns = [
    path("<str:token>/", joining.invitation, name="invitation"),
    path("<str:token>/accept/", joining.accept, name="accept"),
]
