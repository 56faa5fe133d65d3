"""Storage's loops as Celery tasks; each finds its own work in the database."""

from celery import shared_task

from apps.common.actor import system_actor
from apps.common.scoping import acting
from apps.storage import datasets, disk, housekeeping, metering, usage, volumes, working


@shared_task(name="storage.measure")
def measure() -> None:
    with acting(system_actor()):
        usage.measure_due()


@shared_task(name="storage.meter")
def meter() -> None:
    with acting(system_actor()):
        metering.meter()


@shared_task(name="storage.work")
def work() -> None:
    with acting(system_actor()):
        working.work()


@shared_task(name="storage.clean")
def clean() -> None:
    with acting(system_actor()) as actor:
        volumes.purge_due(actor)
        datasets.purge_due(actor)
        housekeeping.sweep()
    disk.empty_trash()


@shared_task(name="storage.adopt")
def adopt() -> None:
    with acting(system_actor()):
        housekeeping.adopt()
