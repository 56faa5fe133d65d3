"""The loop of training as a Celery task; it finds its own work in the database."""

from celery import shared_task

from apps.common.actor import system_actor
from apps.common.scoping import acting
from apps.training import deletion


@shared_task(name="training.clear")
def clear() -> None:
    """Machines remove what they keep of deleted runs."""
    with acting(system_actor()):
        deletion.clear_due()
