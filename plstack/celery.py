"""The Celery application. Messages are nudges: every task finds its work in the database."""

import os

from celery import Celery

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "plstack.settings.dev")

app = Celery("plstack")
app.config_from_object("django.conf:settings", namespace="CELERY")
app.autodiscover_tasks()


def every(seconds: float, task: str, queue: str) -> dict[str, object]:
    """A beat entry that expires before its next turn, so that a stopped worker finds no backlog of nudges."""
    return {"task": task, "schedule": seconds, "options": {"queue": queue, "expires": seconds}}


app.conf.beat_schedule = {
    "schedule": every(3, "workloads.schedule", "scheduler"),
    "reconcile": every(2, "workloads.reconcile", "reconcile"),
    "discover": every(30, "workloads.discover", "default"),
    "rate": every(30, "billing.rate", "default"),
    "arrears": every(30, "workloads.enforce_arrears", "default"),
}
