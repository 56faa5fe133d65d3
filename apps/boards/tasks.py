"""The loop of boards as a Celery task; it finds its own work in the database."""

from celery import shared_task

from apps.boards.reconcile import ending
from apps.common.actor import system_actor
from apps.common.scoping import acting


@shared_task(name="boards.end_unused")
def end_unused() -> None:
    with acting(system_actor()) as actor:
        ending.end_unused(actor)
