"""The loop of schedules as a Celery task; it finds its own work in the database."""

from celery import shared_task

from apps.common.actor import system_actor
from apps.common.scoping import acting
from apps.schedules.reconcile import due, starting


@shared_task(name="schedules.start")
def start() -> None:
    """Moments that have come are written down, and what waits is started."""
    with acting(system_actor()):
        due.write_due()
        starting.start_waiting()
