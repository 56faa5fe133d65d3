"""The loops of environments as Celery tasks; each finds its own work in the database."""

from celery import shared_task

from apps.common.actor import system_actor
from apps.common.scoping import acting
from apps.envs.reconcile import idle, stopping, yielding
from apps.envs.services import binning, expiry


@shared_task(name="envs.advance")
def advance() -> None:
    with acting(system_actor()) as actor:
        yielding.save_before_leaving(actor)
        stopping.save_before_stopping(actor)


@shared_task(name="envs.watch")
def watch() -> None:
    with acting(system_actor()) as actor:
        idle.watch_all(actor)


@shared_task(name="envs.sweep")
def sweep() -> None:
    """What is counted in minutes and days: automatic snapshots, expiry, the bin."""
    with acting(system_actor()) as actor:
        idle.snapshot_due(actor)
        expiry.sweep(actor)
        binning.purge_due(actor)
