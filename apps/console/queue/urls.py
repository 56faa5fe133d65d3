"""Routes of queue: pages and endpoints."""

from django.urls import path

from apps.console.queue import api, cards, preemptions, views

pages = [
    path("queue/", views.page, name="queue"),
    path("queue/parts/<slug:part>/", views.part, name="queue_part"),
    path("queue/cards/", cards.page, name="queue_cards"),
    path("queue/preemptions/", preemptions.preemptions, name="queue_preemptions"),
    path("queue/estimates/", preemptions.estimates, name="queue_estimates"),
]

endpoints = [
    path("queue/", api.Queue.as_view()),
    path("queue/fairness/", api.Fairness.as_view()),
    path("queue/waiting/", api.Waiting.as_view()),
    path("queue/reservations/", api.Reservations.as_view()),
    path("queue/fragments/", api.Fragments.as_view()),
    path("queue/preemptions/", api.Preemptions.as_view()),
    path("queue/estimates/", api.Estimates.as_view()),
]
