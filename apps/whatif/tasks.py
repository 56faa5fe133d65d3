"""What-if's loop as a Celery task; it finds its own work in the database."""

from celery import shared_task

from apps.common.actor import system_actor
from apps.common.scoping import acting
from apps.whatif import working


@shared_task(name="whatif.work")
def work() -> None:
    with acting(system_actor()):
        working.replay_due_scenarios()
