"""The loops of services as Celery tasks; each finds its own work in the database."""

from celery import shared_task

from apps.common.actor import system_actor
from apps.common.scoping import acting
from apps.serving import usage
from apps.serving.reconcile import advancing, checking, smoking
from apps.serving.scaling import following, loads


@shared_task(name="serving.advance")
def advance() -> None:
    with acting(system_actor()) as actor:
        advancing.sweep(actor)


@shared_task(name="serving.check")
def check() -> None:
    with acting(system_actor()):
        checking.check_all()


@shared_task(name="serving.follow_load")
def follow_load() -> None:
    with acting(system_actor()) as actor:
        following.sweep(actor)


@shared_task(name="serving.smoke")
def smoke() -> None:
    with acting(system_actor()):
        smoking.smoke_due()


@shared_task(name="serving.forget")
def forget() -> None:
    with acting(system_actor()):
        usage.forget_old()
        loads.forget_old()
