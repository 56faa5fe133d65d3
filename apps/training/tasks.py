"""The loops of training as Celery tasks; they find their own work in the database."""

from celery import shared_task

from apps.common.actor import system_actor
from apps.common.scoping import acting
from apps.training import deletion
from apps.training.arrays import starting


@shared_task(name="training.clear")
def clear() -> None:
    """Machines remove what they keep of deleted runs."""
    with acting(system_actor()):
        deletion.clear_due()


@shared_task(name="training.start_arrays")
def start_arrays() -> None:
    """Lines of arrays that are due are started, as far as quota and balance let."""
    with acting(system_actor()):
        starting.start_due()
