"""The loops of services as Celery tasks; each finds its own work in the database."""

from celery import shared_task

from apps.common.actor import system_actor
from apps.common.scoping import acting
from apps.serving import usage
from apps.serving.reconcile import advancing, checking


@shared_task(name="serving.advance")
def advance() -> None:
    with acting(system_actor()) as actor:
        checking.check_all()
        advancing.sweep(actor)


@shared_task(name="serving.forget")
def forget() -> None:
    with acting(system_actor()):
        usage.forget_old()
