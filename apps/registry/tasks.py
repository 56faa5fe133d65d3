"""The registry's loops of the workers as Celery tasks."""

from celery import shared_task

from apps.common.actor import system_actor
from apps.common.scoping import acting
from apps.registry import platforms
from apps.registry.distribution import collecting, recording
from apps.registry.distribution.client import Client, is_configured
from apps.registry.saving import layouts
from apps.registry.saving import working as saving
from apps.registry.scanning import working


@shared_task(name=platforms.TASK)
def read_platforms() -> None:
    with acting(system_actor()) as actor:
        platforms.read_platforms(actor)


@shared_task(name="registry.read")
def read() -> None:
    """For events that were missed."""
    if is_configured():
        with Client() as client, acting(system_actor()):
            recording.read_all(client)


@shared_task(name="registry.collect")
def collect() -> None:
    with acting(system_actor()):
        collecting.advance()


@shared_task(name="registry.scan")
def scan() -> None:
    with acting(system_actor()):
        working.advance()


@shared_task(name="registry.update_scanner")
def update_scanner() -> None:
    with acting(system_actor()):
        working.update_database()


@shared_task(name="registry.save")
def save() -> None:
    with acting(system_actor()):
        saving.advance()


@shared_task(name="registry.sweep_saved")
def sweep_saved() -> None:
    """Images on machines that no row names."""
    with acting(system_actor()):
        layouts.sweep()
