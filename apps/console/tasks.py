"""The console's own loop."""

from celery import shared_task

from apps.common.actor import system_actor
from apps.common.scoping import acting
from apps.console.services import releasing


@shared_task(name="console.release_data")
def release_data() -> None:
    with acting(system_actor()) as actor:
        releasing.release_due(actor)
