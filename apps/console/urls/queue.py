"""Pages of the queue."""

from django.urls import path

from apps.console.views import queue, queue_cards, queue_past

urlpatterns = [
    path("queue/", queue.page, name="queue"),
    path("queue/parts/<slug:part>/", queue.part, name="queue_part"),
    path("queue/cards/", queue_cards.page, name="queue_cards"),
    path("queue/preemptions/", queue_past.preemptions, name="queue_preemptions"),
    path("queue/estimates/", queue_past.estimates, name="queue_estimates"),
]
