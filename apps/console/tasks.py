"""The console's own loops."""

from celery import shared_task

from apps.common.actor import system_actor
from apps.common.scoping import acting
from apps.console.finance.arrears import services as releasing
from apps.console.hardware.processes import services as processes


@shared_task(name="console.release_data")
def release_data() -> None:
    with acting(system_actor()) as actor:
        releasing.release_due(actor)


@shared_task(name="console.tell_replacements")
def tell_replacements() -> None:
    with acting(system_actor()) as actor:
        processes.notify_replacements(actor)
