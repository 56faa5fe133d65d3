"""WebSocket routes."""

from django.urls import path

from apps.workloads.consumers import LiveConsumer, LogConsumer
from apps.workloads.terminal.consumers import TerminalConsumer

websocket_urlpatterns = [
    path("ws/live/", LiveConsumer.as_asgi()),
    path("ws/logs/<uuid:workload_id>/", LogConsumer.as_asgi()),
    path("ws/terminals/<uuid:workload_id>/", TerminalConsumer.as_asgi()),
]
