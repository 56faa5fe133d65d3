"""The loops of builds as Celery tasks; they find their own work in the database."""

from celery import shared_task

from apps.builds import equal
from apps.builds.cache import keeping
from apps.builds.reconcile import saving
from apps.common.actor import system_actor
from apps.common.scoping import acting


@shared_task(name="builds.save")
def save() -> None:
    with acting(system_actor()) as actor:
        saving.save_built(actor)


@shared_task(name="builds.keep_steps")
def keep_steps() -> None:
    with acting(system_actor()):
        keeping.keep_ended()
        equal.let_go()
