"""The queue's endpoints."""

from django.urls import path

from apps.console.api import queue

urlpatterns = [
    path("queue/", queue.Queue.as_view()),
    path("queue/fairness/", queue.Fairness.as_view()),
    path("queue/waiting/", queue.Waiting.as_view()),
    path("queue/reservations/", queue.Reservations.as_view()),
    path("queue/fragments/", queue.Fragments.as_view()),
    path("queue/preemptions/", queue.Preemptions.as_view()),
    path("queue/estimates/", queue.Estimates.as_view()),
]
