"""What the agents of nodes call, and what is the same for every kind of work."""

from django.urls import path

from apps.workloads.hardware.agent_api import Beat, Join
from apps.workloads.ports.api import WorkloadPort, WorkloadPorts

urlpatterns = [
    path("agents/join/", Join.as_view()),
    path("agents/beat/", Beat.as_view()),
    path("workloads/<uuid:workload_id>/ports/", WorkloadPorts.as_view(), name="api-workload-ports"),
    path("workloads/<uuid:workload_id>/ports/<slug:port>/", WorkloadPort.as_view(), name="api-workload-port"),
]
