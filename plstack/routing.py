"""WebSocket routes."""

from django.urls import path

from apps.workloads.consumers import LiveConsumer, LogConsumer

websocket_urlpatterns = [
    path("ws/live/", LiveConsumer.as_asgi()),
    path("ws/logs/<uuid:workload_id>/", LogConsumer.as_asgi()),
]
