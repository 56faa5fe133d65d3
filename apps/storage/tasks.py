"""Storage's loop of the workers as a Celery task. What touches files runs in a process of its own: see `chores`."""

from celery import shared_task

from apps.common.actor import system_actor
from apps.common.scoping import acting
from apps.storage import metering


@shared_task(name="storage.meter")
def meter() -> None:
    with acting(system_actor()):
        metering.meter()
