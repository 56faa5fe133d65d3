"""The loop of builds as a Celery task; it finds its own work in the database."""

from celery import shared_task

from apps.builds.reconcile import saving
from apps.common.actor import system_actor
from apps.common.scoping import acting


@shared_task(name="builds.save")
def save() -> None:
    with acting(system_actor()) as actor:
        saving.save_built(actor)
