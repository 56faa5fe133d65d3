"""What the agents of nodes call."""

from django.urls import path

from apps.workloads.hardware.agent_api import Beat, Join

urlpatterns = [
    path("agents/join/", Join.as_view()),
    path("agents/beat/", Beat.as_view()),
]
